"""`trilens features`."""

from __future__ import annotations

import click

from trilens.cli import options
from trilens.cli.output import Output, bar, counted


@options.command("features")
@click.argument("source", metavar="FOLDER")
@click.option(
    "--model",
    metavar="NAME",
    help="Model of timm (pictures) or sentence-transformers (texts), or the folder that it is in.",
    show_default="CLIP ViT-B/32, all-MiniLM-L6-v2",
)
@click.option("--weights", metavar="FILE", help="Weights of the model of pictures.")
@click.option(
    "--objects",
    metavar="FILE",
    help="List of the objects that are wanted, by the names that the answers use.",
)
@click.option("--download", is_flag=True, help="Fetch weights that are not on this machine yet.")
@click.option("--device", default="cpu", show_default=True, help="Where the model runs: cpu, cuda.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Pictures or texts at a time.",
)
@options.output_options("Write names and vectors (.npz).", required=True)
def command(
    source: str,
    model: str | None,
    weights: str | None,
    objects: str | None,
    download: bool,
    device: str,
    batch: int,
    out: Output,
) -> None:
    """Compute vectors of pictures or texts by a trained model.

    FOLDER holds a picture or a text for each object, called as the object is; or it is a table
    with the columns object,text. Needs the extra features. Weights come from your cache or
    your disk, and are downloaded only with --download. A run that was stopped goes on where it was.

    \b
    Example: trilens features pictures -o clip.npz
    Example: trilens analyze answers.csv --features clip.npz -o report.html
    """
    from trilens.extraction import MODELS, extract_features
    from trilens.files import read_objects

    assert out.path is not None
    listed = None if objects is None else list(read_objects(objects))
    with bar("vectors") as progress:
        stimuli, (n, d) = extract_features(
            source,
            out.path,
            model=model,
            weights=weights,
            objects=listed,
            download=download,
            device=device,
            batch=batch,
            progress=progress,
        )
    called = model or MODELS[stimuli.medium]
    facts = {"objects": n, "dimensions": d, "medium": stimuli.medium, "model": called}
    what = counted(n, stimuli.medium[:-1])
    out.report(facts, f"wrote {out.path}: {what}, {d:,} numbers each, by {called}")
