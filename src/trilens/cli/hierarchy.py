"""`trilens hierarchy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from trilens.cli import options
from trilens.cli.output import ENDINGS, FIGURES, Output, listed, note

if TYPE_CHECKING:
    from trilens.questions.hierarchy import Hierarchy


@options.command("hierarchy")
@options.statement_options
@options.fit_options
@options.output_options(
    "Write the tree: a picture (.svg, .png, .pdf), Newick for other programs (.nwk), or a table "
    "of its branches (.csv, .tsv, .json, .parquet).",
    endings=(*FIGURES, ".nwk", ".newick", ".tree", *ENDINGS),
)
@options.images_option
@options.seed_option
def command(answers: options.Answers, images: str | None, random_state: int, out: Output) -> None:
    """Draw the objects as a tree.

    Prints the branches that the answers support: at least 95 % of the maps that the answers allow
    have them, and the objects form groups. There may be none.

    \b
    Example: trilens hierarchy answers.csv -o tree.svg
    """
    from trilens.questions.hierarchy import hierarchy

    options.fit_if_needed(answers, "choice", random_state)
    found = hierarchy(answers, random_state=random_state)
    if out.path is not None:
        if Path(out.path).suffix.lower() in FIGURES:
            _draw(found, out.path, images)
        else:
            found.write(out.path)
        note(f"wrote {out.path}")
    claimed = found.claimed
    shown: dict[str, list[Any]] = {
        "branch": [listed(branch.objects) for branch in claimed],
        "objects": [len(branch.objects) for branch in claimed],
        "height": [branch.height for branch in claimed],
        "support": [branch.support for branch in claimed],
    }
    Output(None, out.as_json).show(shown, found.to_dict(), [found.sentence])


def _draw(found: Hierarchy, path: str, images: str | None) -> None:
    from trilens.plots import save_figure, tree

    pictures = None
    if images is not None:
        pictures = options.picture_files(options.read_pictures(images, found.names))
    save_figure(tree(found, pictures=pictures), path)
