"""Pictures of the objects, as small data URIs for the page."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trilens.errors import FormatError, MissingExtraError

ENDINGS = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif")
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
    """

    of: dict[str, Picture]
    missing: tuple[str, ...]
    broken: dict[str, str]


def picture_size(n_objects: int) -> int:
    """The longer side of a thumbnail in pixels: smaller where there are many."""
    return 280 if n_objects <= 100 else 160 if n_objects <= 1000 else 96


def load_pictures(folder: str | Path, names: Iterable[str], size: int = 160) -> Pictures:
    """Thumbnails of the pictures in a folder, one file per object name.

    A file belongs to the object whose name is its own without the ending (png, jpg, jpeg, gif,
    webp or svg). SVG files go into the page as they are, as images, where scripts do not run.

    Parameters
    ----------
    folder
    names
        Of the objects wanted.
    size : int
        The longer side in pixels.

    Raises
    ------
    FormatError
        If there is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise FormatError(f"{folder}: there is no such folder of pictures")
    files: dict[str, Path] = {}
    for file in sorted(place.iterdir(), key=lambda f: (_rank(f), f.name)):
        if _rank(file) < len(ENDINGS):
            files.setdefault(file.name[: -len(file.suffix)], file)
    found: dict[str, Picture] = {}
    missing: list[str] = []
    broken: dict[str, str] = {}
    for name in names:
        if name not in files:
            missing.append(name)
            continue
        picture = _thumbnail(files[name], size)
        if isinstance(picture, Picture):
            found[name] = picture
        else:
            broken[files[name].name] = picture
    return Pictures(found, tuple(missing), broken)


def _rank(file: Path) -> int:
    ending = file.suffix.lower()
    return ENDINGS.index(ending) if ending in ENDINGS else len(ENDINGS)


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


def _raster(file: Path, size: int) -> Picture | str:
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingExtraError("reading pictures", "report") from None
    import warnings

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
