"""`trilens individuals`."""

from __future__ import annotations

from trilens.cli import options
from trilens.cli.output import Output


@options.command("individuals")
@options.statement_options
@options.seed_option
@options.table_output("the raters to a file")
def command(answers: options.Answers, random_state: int, out: Output) -> None:
    """Find out whether raters see the same things.

    Prints whether they differ by more than chance explains, on which dimension, which groups there
    are, and how well each rater's answers are predicted.

    \b
    Example: trilens individuals answers.csv -o raters.csv
    """
    from trilens.questions.individuals import individuals

    found = individuals(answers, random_state=random_state)
    out.show(found.columns(), found.to_dict(), found.sentences())
