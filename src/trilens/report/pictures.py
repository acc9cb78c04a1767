"""Pictures of the objects, as small data URIs for the page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from trilens.errors import MissingExtraError
from trilens.files.pictures import find_pictures

#: Beyond these a picture is left out: it would take minutes to decode, or swell the page.
MAX_BYTES = 20_000_000
MAX_PIXELS = 60_000_000
MAX_SVG_BYTES = 300_000


@dataclass(frozen=True)
class Picture:
    """A thumbnail.

    Attributes
    ----------
    uri : str
        ``data:image/...;base64,...``
    width, height : int
        In pixels of the page; the longer one is the size asked for.
    """

    uri: str
    width: int
    height: int


@dataclass(frozen=True)
class Pictures:
    """The thumbnails that could be made, and what is wrong with the others.

    Attributes
    ----------
    of : dict of str to Picture
        By the name of the object.
    missing : tuple of str
        Objects without a file.
    broken : dict of str to str
        Files that could not be used, by file name, with the reason.
    looked : dict of str to str
        Where the files of the missing ones were looked for, in words.
    """

    of: dict[str, Picture]
    missing: tuple[str, ...]
    broken: dict[str, str]
    looked: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, io.BytesIO]:
        """The thumbnails as files for matplotlib, which draws no SVG."""
        found = {}
        for name, picture in self.of.items():
            head, _, data = picture.uri.partition(",")
            if "svg" not in head:
                found[name] = io.BytesIO(base64.b64decode(data))
        return found


def picture_size(n_objects: int) -> int:
    """The longer side of a thumbnail in pixels: smaller where there are many."""
    return 280 if n_objects <= 100 else 160 if n_objects <= 1000 else 96


def load_pictures(
    folder: str | Path | None,
    names: Iterable[str],
    size: int = 160,
    told: Mapping[str, str] | None = None,
) -> Pictures:
    """Thumbnails of the pictures of objects.

    A file belongs to the object that is called like it: ``horse``, ``horse.jpg``,
    ``stimuli/horse.jpg``, an address that ends in it, or the HTML that shows it (png, jpg, jpeg,
    gif, webp or svg). SVG files go into the page as they are, as images, where scripts do not run.

    Parameters
    ----------
    folder
        None: where ``told`` says.
    names
        Of the objects wanted.
    size : int
        The longer side in pixels.
    told : dict, optional
        The path or the address of the picture of an object.

    Raises
    ------
    FormatError
        If there is no such folder.
    """
    files = find_pictures(folder, names, told)
    found: dict[str, Picture] = {}
    broken: dict[str, str] = {}
    for name, file in files.of.items():
        picture = _thumbnail(file, size)
        if isinstance(picture, Picture):
            found[name] = picture
        else:
            broken[file.name] = picture
    return Pictures(found, tuple(files.missing), broken, files.missing)


def _thumbnail(file: Path, size: int) -> Picture | str:
    """The thumbnail, or why there is none."""
    try:
        length = file.stat().st_size
        if length > MAX_BYTES:
            return f"{length / 1e6:.0f} MB, more than {MAX_BYTES // 1_000_000} MB"
        if file.suffix.lower() == ".svg":
            return _svg(file.read_bytes(), size)
        return _raster(file, size)
    except OSError as error:
        return f"cannot be read ({error.strerror or 'not a picture'})"


def _svg(data: bytes, size: int) -> Picture | str:
    from xml.etree import ElementTree

    if len(data) > MAX_SVG_BYTES:
        return f"{len(data) / 1000:.0f} kB, more than {MAX_SVG_BYTES // 1000} kB for an SVG file"
    if b"<!ENTITY" in data:
        return "an SVG file that declares entities"
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        return f"not a well-formed SVG file ({error})"
    if not root.tag.endswith("svg"):
        return "not an SVG file"
    box = re.findall(r"[-+.\deE]+", root.get("viewBox", ""))
    sides = box[2:4] if len(box) == 4 else [root.get("width", ""), root.get("height", "")]
    try:
        width, height = (float(re.sub(r"[a-z]*$", "", side)) for side in sides)
    except ValueError:
        width = height = 1.0
    if not (0 < width < 1e9 and 0 < height < 1e9):
        width = height = 1.0
    return _picture("svg+xml", data, width, height, size)


def require_pillow(files: Iterable[str | Path]) -> None:
    """Refuse pictures that nothing here can read, before anything is done for them."""
    if find_spec("PIL") is None and any(Path(file).suffix.lower() != ".svg" for file in files):
        raise MissingExtraError("reading pictures", "report")


def _raster(file: Path, size: int) -> Picture | str:
    require_pillow([file])
    import warnings

    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            # its own size limit is below; other warnings are about odd but usable files
            warnings.simplefilter("ignore")
            with Image.open(file) as image:
                if image.width * image.height > MAX_PIXELS:
                    return f"{image.width} x {image.height} pixels, more than can be shown"
                image.draft("RGB", (2 * size, 2 * size))
                small = ImageOps.exif_transpose(image)
                has_holes = "A" in small.mode or "transparency" in small.info
                small = small.convert("RGBA" if has_holes else "RGB")
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        # Pillow raises any of these on damaged files
        return "not a picture, or damaged"
    small.thumbnail((size, size))
    buffer = io.BytesIO()
    if has_holes:
        small.save(buffer, "PNG", optimize=True)
    else:
        small.save(buffer, "JPEG", quality=82, optimize=True)
    kind = "png" if has_holes else "jpeg"
    return _picture(kind, buffer.getvalue(), small.width, small.height, size)


def _picture(kind: str, data: bytes, width: float, height: float, size: int) -> Picture:
    scale = size / max(width, height)
    uri = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return Picture(uri, max(1, round(width * scale)), max(1, round(height * scale)))
