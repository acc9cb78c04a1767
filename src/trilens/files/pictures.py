"""Which picture belongs to which object, however the object is called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from trilens.errors import FormatError
from trilens.statements.cells import images_in

#: The first one goes first, where an object has several pictures.
ENDINGS = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".gif")
#: Folders below the given one that are looked at.
_DEEPEST = 3


@dataclass(frozen=True)
class FoundPictures:
    """The file of each object, and in words where those of the others were looked for."""

    of: dict[str, Path]
    missing: dict[str, str] = field(default_factory=dict)


def picture_names(name: str) -> list[str]:
    """What the file of an object may be called, the likeliest first.

    >>> picture_names('<img src="img/horse.jpg">')
    ['img/horse.jpg', 'horse.jpg', 'horse']
    >>> picture_names("https://example.org/a/big%20horse.jpg?size=2")
    ['a/big horse.jpg', 'big horse.jpg', 'big horse']
    """
    shown = images_in(name)
    text = (shown[0] if shown else name).strip()
    if "://" in text:
        text = unquote(urlsplit(text).path)
    text = text.replace("\\", "/").lstrip("/")
    path = PurePosixPath(text.removeprefix("./"))
    bare = path.name
    stem = bare[: -len(path.suffix)] if path.suffix.lower() in ENDINGS else bare
    return [each for each in dict.fromkeys([str(path), bare, stem]) if each not in ("", ".")]


def find_pictures(
    folder: str | os.PathLike[str] | None,
    names: Iterable[str],
    told: Mapping[str, str] | None = None,
) -> FoundPictures:
    """The picture of each object: in a folder and those within, or by the path that is told.

    An object may be called as its file is, with the ending or without it, with the folders above
    it, by its address, or by the HTML that shows it; capitals do not matter. ``told`` has the
    picture of an object, a path or an address, as a table of objects tells it.
    """
    place = None if folder is None else Path(folder)
    if place is not None and not place.is_dir():
        raise FormatError(f"{folder}: there is no such folder of pictures")
    files = {} if place is None else _files(place)
    found: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for name in names:
        given = (told or {}).get(name)
        wanted = [each for text in (given, name) if text for each in picture_names(text)]
        own = None if given is None or "://" in given else Path(given)
        if own is not None and own.is_file():
            found[name] = own
            continue
        keys = (each.casefold() for each in wanted)
        file = next((files[each] for each in keys if each in files), None)
        if file is not None:
            found[name] = file
            continue
        tried = ", ".join(dict.fromkeys(wanted[:3]))
        where = "there is no folder of pictures to look in"
        missing[name] = f"{tried} in {folder}" if folder is not None else f"{tried}; {where}"
    return FoundPictures(found, missing)


def _files(folder: Path) -> dict[str, Path]:
    """The pictures below a folder by their paths, their names and their names without ending."""
    every = sorted(_walk(folder, 0), key=lambda file: (_rank(file), len(file.parts), str(file)))
    called = [
        (file, file.relative_to(folder).as_posix(), file.name, file.name[: -len(file.suffix)])
        for file in every
    ]
    found: dict[str, Path] = {}
    for how in (1, 2, 3):
        for names in called:
            found.setdefault(str(names[how]).casefold(), names[0])
    return found


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and depth < _DEEPEST:
            yield from _walk(entry, depth + 1)
        elif _rank(entry) < len(ENDINGS):
            yield entry


def _rank(file: Path) -> int:
    ending = file.suffix.lower()
    return ENDINGS.index(ending) if ending in ENDINGS else len(ENDINGS)
