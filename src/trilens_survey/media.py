"""Pictures and sounds as files: whether they can be shown, how large they are, smaller copies."""

from __future__ import annotations

import tempfile
import threading
import wave
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from trilens_survey.stimuli import Stimulus
from trilens_survey.study_file import Problem

#: A picture with more bytes or a longer side than these is sent as a smaller copy.
MOST_BYTES = 2_000_000
MOST_PIXELS = 2_000
#: The longer side of a copy.
COPY_PIXELS = 1_600
#: Pictures of which copies are made: the others may move, or have no pixels.
_SCALED = ("image/jpeg", "image/png", "image/webp", "image/avif")


#: What a browser gets: a file and its media type.
Served: TypeAlias = tuple[Path, str]


class Copies:
    """Smaller copies of large pictures, made when they are first asked for."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()
        self._known: dict[str, Served] = {}

    def known(self, stimulus: Stimulus) -> Served | None:
        """What was asked for before."""
        return self._known.get(stimulus.key)

    def of(self, stimulus: Stimulus) -> Served:
        """The picture or sound itself, or a copy of a picture that is too large; takes a while."""
        assert stimulus.file is not None
        with self._lock:  # one at a time: decoding takes memory
            if stimulus.key not in self._known:
                self._known[stimulus.key] = self._made(stimulus, stimulus.file)
            return self._known[stimulus.key]

    def _made(self, stimulus: Stimulus, file: Path) -> Served:
        own = file, stimulus.media
        if too_large(stimulus) is None:
            return own
        from PIL import Image, ImageOps

        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="trilens-media-")
        copy = Path(self._folder.name) / f"{stimulus.key}.webp"
        try:
            with Image.open(file) as picture:
                picture.draft("RGB", (COPY_PIXELS, COPY_PIXELS))  # a JPEG is decoded smaller
                smaller = ImageOps.exif_transpose(picture)
                smaller.thumbnail((COPY_PIXELS, COPY_PIXELS))
                if smaller.mode not in ("RGB", "RGBA"):
                    smaller = smaller.convert("RGBA" if "transparency" in smaller.info else "RGB")
                smaller.save(copy, quality=85)
        except Exception:
            return own  # broken, or the disk is full: the browser says what it can
        return copy, "image/webp"

    def close(self) -> None:
        """Remove the copies."""
        if self._folder is not None:
            self._folder.cleanup()


def too_large(stimulus: Stimulus) -> str | None:
    """How large a picture is, in a sentence, if that is more than a page can use."""
    if stimulus.file is None or stimulus.media not in _SCALED:
        return None
    from PIL import Image

    size = stimulus.file.stat().st_size
    try:
        with Image.open(stimulus.file) as picture:
            width, height = picture.size
            moves = getattr(picture, "is_animated", False)
    except Exception:
        return None  # `damaged` says so
    if moves or (size <= MOST_BYTES and max(width, height) <= MOST_PIXELS):
        return None
    return (
        f"{_label(stimulus.file)}: {size / 1e6:.1f} MB, {width:,} x {height:,} pixels; "
        f"participants get a copy of at most {COPY_PIXELS:,} pixels"
    )


def damaged(stimuli: Iterable[Stimulus]) -> list[Problem]:
    """The pictures and sounds that a browser will not show or play: every one is decoded.

    Sounds other than WAV are not.
    """
    problems = []
    for stimulus in stimuli:
        if stimulus.file is None:
            continue
        try:
            _decode(stimulus.file, stimulus.media)
        except Exception as error:  # decoders raise what they like
            why = (str(error).splitlines() or [type(error).__name__])[0]
            text = f"cannot be shown or played ({why}); save it again or remove it"
            problems.append(Problem(_label(stimulus.file), None, text))
    return problems


def _label(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _decode(file: Path, media: str) -> None:
    if media == "image/svg+xml":
        ElementTree.parse(file)
    elif media.startswith("image/"):
        from PIL import Image

        with Image.open(file) as picture:
            picture.load()
    elif media == "audio/wav":
        with wave.open(str(file)) as sound:
            frames = sound.getnframes()
            size = sound.getsampwidth() * sound.getnchannels()
            if len(sound.readframes(frames)) < frames * size:
                raise ValueError("the file is cut off")
