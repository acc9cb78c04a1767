"""A small study whose objects, classes and raters have names that try to be markup."""

from __future__ import annotations

from trilens.simulate import study
from trilens.statements import Statements

NAMES = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"><img src=x onerror="window.hacked = 3">',
    "' onfocus='window.hacked = 4' tabindex='0",
    "{{ 7 * 7 }} {% raise %}",
    "&lt;b&gt; & <b>bold</b>",
    "🦊 fox 👩‍👩‍👧",
    "שלום עולם",
    "مرحبا بالعالم",
    "very long " + "name " * 58,
    "W" * 300,
    "tab\tand\nnewline\x00\x1b[31m",
    "--> <!-- ]]> %3Cscript%3E \\u003cscript\\u003e",
    "javascript:window.hacked=5",
)


def nasty_study(n_objects: int = 20, n_statements: int = 1100, **options):
    """Statements of a simulated study, with those names, and labels of most objects."""
    drawn = study(n_objects, n_statements, n_raters=8, random_state=1, **options)
    S = drawn.statements
    names = [*NAMES, *S.names[len(NAMES) :]]
    raters = [f"<i>{rater}</i>" for rater in S.raters]
    named = Statements(
        S.triples, names=names, kind=S.kind, raters=raters, rounds=S.rounds, seconds=S.seconds
    )
    classes = ["<u>discs</u>", "bars & co", "نجوم"]
    labels = [None if i % 5 == 0 or c < 0 else classes[c] for i, c in enumerate(drawn.labels)]
    return named, labels
