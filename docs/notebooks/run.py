"""Run notebooks: ``python docs/notebooks/run.py`` writes again what their cells show.

A cell is plain Python. Shown is what it prints, and the value of its last line: as text, and as a
picture where it is a drawing.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, run in order in an empty folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            return [_outputs("".join(cell["source"]), names) for cell in cells]
        finally:
            os.chdir(before)


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """What outputs say, without pictures."""
    return [
        "".join(out["text"] if out["output_type"] == "stream" else out["data"]["text/plain"])
        for out in outputs
    ]


def _outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    value = None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if said.getvalue():
        lines = said.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        picture = _picture(value)
        shown = "<a drawing>" if picture else repr(value)
        data: dict[str, Any] = {"text/plain": shown.splitlines(keepends=True)}
        if picture:
            data["image/png"] = picture
        elif hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return found


def _picture(value: Any) -> str | None:
    figure = getattr(value, "figure", None)
    if figure is None or not hasattr(figure, "savefig"):
        return None
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=80, format="png")
    Image.open(drawn).convert("RGB").quantize(64).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


if __name__ == "__main__":
    for file in sorted(HERE.glob("*.ipynb")):
        notebook = json.loads(file.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for cell, outputs in zip(cells, run(notebook), strict=True):
            cell["outputs"] = outputs
        file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
