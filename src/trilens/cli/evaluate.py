"""`trilens evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trilens.cli import options
from trilens.cli.options import F
from trilens.cli.output import Output, bar, counted, note

if TYPE_CHECKING:
    from trilens.questions.evaluate import Comparison
    from trilens.statements import Statements

#: What to do where the rows of a model have no names.
_NAME_THE_ROWS = "If so, give --objects FILE, with one name a line in the order of the rows."


def _several(flag: str, help: str) -> Callable[[F], F]:
    """An option for files of models."""
    name = "given_answers" if flag == "--answers" else flag[2:]
    more = f"{help} May be repeated."
    return click.option(flag, name, type=options.READ, multiple=True, metavar="FILE", help=more)


@options.command("evaluate")
@options.statement_options
@click.argument("models", type=options.READ, nargs=-1, metavar="[MODEL]...")
@_several(
    "--embedding",
    "Vectors of a model: a table with a column of object names, or .npy in the order of the "
    "objects; which of the two it was taken for is reported.",
)
@_several(
    "--distances",
    "Distances of a model: a square matrix in the order of the objects, as .npy or as CSV without "
    "names.",
)
@_several("--answers", "Answers of a model to the same questions: a statement file.")
@options.choice("--metric", ("euclidean", "cosine", "dot"), "How vectors are compared.")
@click.option(
    "--align/--no-align",
    default=None,
    help="Whether vectors are evaluated also after a linear map, fitted to answers about other "
    "objects.",
    show_default="for each MODEL",
)
@click.option(
    "--figure", type=options.WRITTEN, metavar="FILE", help="Draw the models and the ceiling."
)
@options.table_output("a table of the models to a file")
@options.seed_option
def command(
    answers: options.Answers,
    models: tuple[str, ...],
    align: bool | None,
    figure: str | None,
    random_state: int,
    out: Output,
    **given: Any,
) -> None:
    """Measure how well models agree with people.

    Each MODEL is a file of vectors, as for --embedding, or a fit (trilens fit -o study.fit): one
    table has them as they are, and after a linear map that was fitted to answers about other
    objects. Models may also be given by their distances or their own answers.

    \b
    Example: trilens evaluate answers.csv clip.npy words.csv
    """
    from trilens.ask import statements_of
    from trilens.questions.evaluate.evaluation import compare_all
    from trilens.words import how_matched

    given["embedding"] = (*models, *given["embedding"])
    if not (given["embedding"] or given["distances"] or given["given_answers"]):
        raise click.UsageError(
            "name a model: a file of vectors, or --embedding, --distances or --answers"
        )
    statements = statements_of(answers, "evaluate")
    read, taken = _read(statements, answers.kind, **given)
    with bar("comparing models") as progress:
        found = compare_all(
            statements,
            read,
            aligned=bool(models) if align is None else align,
            random_state=random_state,
            progress=progress,
        )
    by_order = set()
    for model in found.models:
        before, named = taken.get(model.name, ("", False))
        if not (named or model.by_name):
            by_order.add(model.name)
        how = how_matched(model.name not in by_order, statements.names)
        note(f"{model.name}: {before}{how}")
    for text in _cautions(found, by_order):
        note(text)
    if figure is not None:
        from trilens.plots import models_against_ceiling, save_figure

        save_figure(models_against_ceiling(found), figure)
        note(f"wrote {figure}")
    facts = found.to_dict()
    if len(found.models) == 1:
        facts = {**found.models[0].to_dict(), **facts}
    out.show(_columns(found), facts, _notes(found))


def _read(
    statements: Statements,
    kind: Any,
    embedding: tuple[str, ...],
    distances: tuple[str, ...],
    given_answers: tuple[str, ...],
    metric: str,
) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[str, bool]]]:
    """The models by name; and what each file was taken for, and whether it named its objects."""
    from trilens.files import read_statements
    from trilens.files.vectors import read_matched_matrix, read_vector_table
    from trilens.maps.fit_file import is_fit, load
    from trilens.statements.combine import all_among
    from trilens.words import fitted_to_these

    models: dict[str, dict[str, Any]] = {}
    taken: dict[str, tuple[str, bool]] = {}
    for file in embedding:
        name = _name(file, models)
        if is_fit(file):
            fitted = load(file)
            taken[name] = f"a fit in {counted(fitted.map.n_components, 'dimension')}; ", True
            vectors = dict(zip(fitted.names, fitted.map.X, strict=True))
            theirs = fitted.statements
            both = () if theirs is None or not len(theirs) else (statements, theirs)
            if both and (all_among(*both) or all_among(*both[::-1])):
                note(f"caution: {fitted_to_these(name)}")
            models[name] = {"embedding": vectors, "metric": "euclidean"}
            continue
        table = read_vector_table(file, statements.names)
        taken[name] = f"{table.said()}; ", False
        models[name] = {"embedding": table.vectors, "metric": metric}
    for file in distances:
        name = _name(file, models)
        D, named = read_matched_matrix(file, statements.names)
        taken[name] = "", named
        models[name] = {"distances": D}
    for file in given_answers:
        models[_name(file, models)] = {"answers": read_statements(file, kind=kind)}
    return models, taken


def _columns(found: Comparison) -> dict[str, list[Any]]:
    """The table: a row for each model, as it is and aligned."""
    columns: dict[str, list[Any]] = {
        "model": [m.name for m in found.models],
        "accuracy": [m.accuracy for m in found.models],
        "from": [m.interval[0] for m in found.models],
        "to": [m.interval[1] for m in found.models],
        "of the ceiling": [m.of_ceiling for m in found.models],
        "log-loss": [m.log_loss for m in found.models],
    }
    if len(found.models) > 1:
        columns["rank"] = [_rank(found, m.name) for m in found.models]
    aligned = found.aligned
    if aligned is not None:
        by_name = {m.name: m for m in aligned.models}
        there = [by_name.get(m.name) for m in found.models]
        columns["aligned"] = [None if m is None else m.accuracy for m in there]
        columns["aligned from"] = [None if m is None else m.interval[0] for m in there]
        columns["aligned to"] = [None if m is None else m.interval[1] for m in there]
        if len(by_name) > 1:
            columns["aligned rank"] = [None if m is None else _rank(aligned, m.name) for m in there]
    return columns


def _rank(found: Comparison, name: str) -> str:
    """As people write it; 2-4 where the answers do not tell."""
    best, worst = found.ranks[name]
    return str(best) if best == worst else f"{best}-{worst}"


def _cautions(found: Comparison, by_order: set[str]) -> Iterator[str]:
    if found.models[0].caution is not None:
        yield f"caution: {found.models[0].caution}"
    if found.caution is not None:
        yield f"caution: {found.caution}"
    for model in found.models:
        if model.interval[0] <= model.chance:
            yield (
                f"caution: {model.name} is no better than guessing ({model.accuracy:.3f}; guessing "
                f"reaches {model.chance:.3f}); are these similarities rather than distances, or "
                f"are the objects in another order?"
                f"{f' {_NAME_THE_ROWS}' if model.name in by_order else ''}"
            )


def _notes(found: Comparison) -> Iterator[str]:
    first = found.models[0]
    answers = counted(first.answers, "answer")
    yield f"{answers}; guessing: {first.chance:.3f}; intervals by {first.unit}"
    if first.ceiling is None:
        yield f"no ceiling: {first.no_ceiling}"
    else:
        low, high = first.ceiling_interval or (first.ceiling, first.ceiling)
        who = "raters" if first.raters else "answers"
        yield (
            f"ceiling {first.ceiling:.3f} ({low:.3f} to {high:.3f}): the best accuracy a model can "
            f"reach, estimated from how often two {who} agree, {first.agreement:.3f}: a good model "
            f"may come out a little above it"
        )
    yield from _differences(found, "")
    if found.aligned is not None:
        yield (
            "aligned: after a linear map, fitted for each answer to answers about other objects "
            "only (about a fifth of them)"
        )
        yield from _differences(found.aligned, "aligned, ")


def _differences(found: Comparison, how: str) -> Iterator[str]:
    from trilens.words import p_text

    for pair in found.differences[:10]:
        yield (
            f"{how}{pair.first} - {pair.second}: {pair.difference:+.3f} ({pair.low:+.3f} to "
            f"{pair.high:+.3f}), {p_text(pair.adjusted)}; they differ most about "
            f"{', '.join(row.object for row in pair.objects[:3])}"
        )


def _name(file: str, taken: dict[str, Any]) -> str:
    """The file's name without its ending; the whole path where that is taken."""
    stem = Path(file).name.split(".")[0] or file
    return stem if stem not in taken else file
