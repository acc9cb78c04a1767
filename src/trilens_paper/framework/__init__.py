"""What every experiment rests on, whatever it is about: cells, runner, results, verdicts, page."""
