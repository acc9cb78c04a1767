"""The objects of a study: pictures or sounds in a folder, or a CSV of texts or files."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from trilens._tabular import natural
from trilens_survey.study_file import FILE, Problem

#: Endings that are shown or played, and their media types.
MEDIA = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
}
#: How a file of the type begins, and where.
_BEGINNINGS: dict[str, tuple[tuple[int, bytes], ...]] = {
    "image/jpeg": ((0, b"\xff\xd8\xff"),),
    "image/png": ((0, b"\x89PNG\r\n\x1a\n"),),
    "image/gif": ((0, b"GIF8"),),
    "image/webp": ((8, b"WEBP"),),
    "image/avif": ((4, b"ftyp"),),
    "audio/mpeg": ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3"), (0, b"\xff\xf2")),
    "audio/ogg": ((0, b"OggS"),),
    "audio/wav": ((8, b"WAVE"),),
    "audio/mp4": ((4, b"ftyp"),),
    "audio/flac": ((0, b"fLaC"),),
}
LONGEST_NAME = 200
#: What stands for a missing cell when an export is read.
_MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null", "none"})


@dataclass(frozen=True)
class Stimulus:
    """One object: its name, and its text in each language or its file."""

    name: str
    #: ``text``, ``image`` or ``audio``
    form: str
    text: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    media: str = ""
    #: the file's fingerprint: the address under which it is served, which tells nothing of its
    #: name and may be cached for ever
    key: str = ""
    #: what a picture or sound is, in each language, for those who cannot see or hear it; none
    #: where the study says nothing, because a file's name may give the answer away
    alt: dict[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Tells whether it is still what was shown."""
        content = json.dumps(self.text, sort_keys=True).encode()
        return self.key or hashlib.sha256(content).hexdigest()[:32]

    def shown(self, language: str) -> dict[str, str]:
        """What the page needs to show it."""
        if self.form == "text":
            return {"form": "text", "text": self.text[language]}
        shown = {"form": self.form, "url": f"media/{self.key}"}
        return shown | {"alt": self.alt[language]} if self.alt.get(language) else shown


def read_stimuli(
    folder: Path, where: str, languages: tuple[str, ...], line: int | None
) -> tuple[list[Stimulus], list[Problem]]:
    """The objects that ``where`` (a CSV or a folder inside the study) holds, in their order."""
    place = folder / where
    if not place.resolve().is_relative_to(folder.resolve()):
        text = f"objects must be inside the study's folder, not {where!r}"
        return [], [Problem(FILE, line, text)]
    if place.is_dir():
        found, problems = _from_folder(place, where)
    elif place.is_file():
        found, problems = _from_csv(place, where, languages)
    else:
        text = f"there is no {where!r} in the study's folder"
        return [], [Problem(FILE, line, text)]
    return found, problems + _wrong_names(found, where)


def _wrong_names(found: list[Stimulus], where: str) -> list[Problem]:
    problems = []
    for stimulus in found:
        name = stimulus.name
        if len(name) > LONGEST_NAME:
            what = f"is longer than {LONGEST_NAME} characters"
        elif name.strip().casefold() in _MISSING:
            what = "would be read as a missing value in an export"
        elif not name.isprintable():
            what = "contains an unprintable character"
        else:
            continue
        problems.append(Problem(where, None, f"the name {name[:40]!r} {what}; rename the object"))
    return problems


class _Wrong(Exception):
    """Why something is no object."""


def _from_folder(place: Path, where: str) -> tuple[list[Stimulus], list[Problem]]:
    problems: list[Problem] = []
    found: dict[str, Stimulus] = {}
    for file in sorted(place.iterdir(), key=lambda f: natural(f.stem)):
        if file.name.startswith(".") or file.is_dir() or file.suffix.lower() not in MEDIA:
            continue  # a license, a list: see `ignored_files`
        try:
            if not file.resolve().is_relative_to(place.resolve()):
                raise _Wrong("links to a file outside the folder; copy it")
            other = found.get(file.stem)
            if other is not None and other.file is not None:
                raise _Wrong(f"{other.file.name} has the same name; rename one of the two")
            found[file.stem] = _medium(file, file.stem)
        except _Wrong as wrong:
            problems.append(Problem(f"{where}/{file.name}", None, str(wrong)))
    return list(found.values()), problems


def _medium(file: Path, name: str) -> Stimulus:
    """The picture or sound in a file."""
    media = MEDIA.get(file.suffix.lower())
    if media is None:
        raise _Wrong(f"objects end in {', '.join(MEDIA)}")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise _Wrong("no such file") from None
    except OSError as error:
        raise _Wrong(f"cannot be read: {error.strerror}") from error
    if not _begins_as(data, media):
        text = "the file is empty" if not data else f"the content is not {media}"
        raise _Wrong(f"{text}; save it again or remove it")
    key = hashlib.sha256(media.encode() + data).hexdigest()[:32]
    return Stimulus(name, media.split("/")[0], file=file, media=media, key=key)


def ignored_files(stimuli: Iterable[Stimulus]) -> list[str]:
    """What is in the folder of the pictures or sounds, and is neither."""
    places = {stimulus.file.parent for stimulus in stimuli if stimulus.file is not None}
    return sorted(
        file.name
        for place in places
        if not (place / FILE).exists()  # the study's own folder has other things in it
        for file in place.iterdir()
        if not file.name.startswith(".") and (file.is_dir() or file.suffix.lower() not in MEDIA)
    )


def _begins_as(data: bytes, media: str) -> bool:
    if media == "image/svg+xml":
        return b"<svg" in data[:4096]
    return any(data[at : at + len(start)] == start for at, start in _BEGINNINGS[media])


def _from_csv(
    place: Path, where: str, languages: tuple[str, ...]
) -> tuple[list[Stimulus], list[Problem]]:
    problems: list[Problem] = []
    found: dict[str, Stimulus] = {}
    try:
        with place.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [cell.strip() for cell in next(reader, [])]
            texts = _columns(dict.fromkeys(header, ""), "text", languages)
            if "name" not in header or not ("file" in header or texts.keys() == set(languages)):
                text = f"the columns must be {_wanted(languages)}, not {','.join(header)!r}"
                return [], [Problem(where, 1, text)]
            for row in filter(None, reader):
                try:
                    if len(row) != len(header):
                        raise _Wrong(f"{len(row)} cells, but the header has {len(header)}")
                    cells = dict(zip(header, map(str.strip, row), strict=True))
                    if cells["name"] in found:
                        raise _Wrong(f"the name {cells['name']!r} appears twice")
                    found[cells["name"]] = _listed(place.parent, cells, languages)
                except _Wrong as wrong:
                    problems.append(Problem(where, reader.line_num, str(wrong)))
    except (UnicodeDecodeError, csv.Error) as error:
        problems.append(Problem(where, None, f"not a CSV file in UTF-8: {error}"))
    return list(found.values()), problems


def _listed(folder: Path, cells: dict[str, str], languages: tuple[str, ...]) -> Stimulus:
    """The object of a row: a picture or sound beside the table or below, or a text."""
    name, shown = cells["name"], cells.get("file")
    if shown:
        file = folder / shown
        try:
            if not file.resolve().is_relative_to(folder.resolve()):
                raise _Wrong("outside the folder of the table; copy it there")
            return replace(_medium(file, name), alt=_columns(cells, "alt", languages))
        except _Wrong as wrong:
            raise _Wrong(f"{shown}: {wrong}") from None
    texts = _columns(cells, "text", languages)
    empty = [code for code in languages if not texts.get(code)]
    if empty and "file" in cells:
        raise _Wrong(f"{name!r} has neither a file nor a text")
    if empty:
        raise _Wrong(f"the text of {name!r} is missing in: {', '.join(empty)}")
    return Stimulus(name, "text", text=texts)


def _wanted(languages: tuple[str, ...]) -> str:
    several = "name," + ",".join(f"text_{code}" for code in languages) + ", or "
    return f"{several if len(languages) > 1 else ''}name,text, or name,file,alt"


def _columns(cells: dict[str, str], what: str, languages: tuple[str, ...]) -> dict[str, str]:
    """What is said in each language; a plain column serves those that have none of their own."""
    plain = dict.fromkeys(languages, what)
    columns = {code: f"{what}_{code}" for code in languages if f"{what}_{code}" in cells}
    return {code: cells[name] for code, name in (plain | columns).items() if name in cells}
