"""Vectors of pictures and texts, by a trained model that the user has.

Pictures go through a model of timm, texts through one of sentence-transformers (the extra
``features``). Weights come from a file, a folder or the user's cache; nothing is downloaded unless
that is asked for. What is done is kept beside the output, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np

from trilens._parameters import check_progress, whole_number, wrong
from trilens._typing import AnyArray, Progress
from trilens.errors import DeviceError, FormatError, MissingExtraError, ParameterError
from trilens.files.output import atomic_write
from trilens.files.pictures import find_pictures
from trilens.files.side_tables import read_mapping
from trilens.files.source import one_line

Medium: TypeAlias = Literal["pictures", "texts"]
#: Turns pictures' files, or texts, into an array with a row for each.
Encoder: TypeAlias = Callable[[Sequence[Any]], AnyArray]

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
TEXTS = (".txt", ".md")
#: Looked for in the cache where no model is named.
MODELS: Mapping[Medium, str] = {
    "pictures": "vit_base_patch32_clip_224.openai",
    "texts": "sentence-transformers/all-MiniLM-L6-v2",
}
_AT_A_TIME = 32


@dataclass(frozen=True)
class Stimuli:
    """What vectors are wanted of: files of pictures, or texts, by the names of the objects."""

    medium: Medium
    of: Mapping[str, Any]


def find_stimuli(source: str | Path, objects: Sequence[str] | None = None) -> Stimuli:
    """The pictures or texts in a folder, or the texts of a table with the columns object,text.

    An object is called as its file is, without the ending.

    Parameters
    ----------
    source : path
    objects : sequence of str, optional
        The objects that are wanted: a file belongs to the one that is called like it, with or
        without its ending. By default one for every file.
    """
    folder = Path(source)
    if not folder.exists():
        raise FormatError(f"{folder} does not exist; give a folder of pictures or texts")
    if not folder.is_dir():
        texts = read_mapping(folder, "object", "text")
        return Stimuli("texts", _wanted(texts, objects, str(folder)))
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name[0] != ".")
    pictures = [file for file in files if file.suffix.lower() in PICTURES]
    written = [file for file in files if file.suffix.lower() in TEXTS]
    if not pictures and not written:
        raise FormatError(
            f"{folder} has no pictures ({', '.join(PICTURES)}) and no texts "
            f"({', '.join(TEXTS)}) directly in it"
        )
    if pictures and written:
        raise FormatError(
            f"{folder} has pictures and texts ({len(pictures):,} and {len(written):,} files); put "
            f"them into two folders, and give both files of features"
        )
    if pictures and objects is not None:
        found = find_pictures(folder, objects)
        return Stimuli("pictures", _wanted(found.of, objects, str(folder)))
    named: dict[str, Path] = {}
    for file in pictures or written:
        other = named.setdefault(file.stem, file)
        if other is not file:
            raise FormatError(
                f"{folder} has {other.name} and {file.name}, so that two files are called "
                f"{file.stem!r}; rename one"
            )
    if pictures:
        return Stimuli("pictures", named)
    read = {name: _text(file) for name, file in named.items()}
    return Stimuli("texts", _wanted(read, objects, str(folder)))


def _wanted(found: Mapping[str, Any], objects: Sequence[str] | None, where: str) -> dict[str, Any]:
    if objects is None:
        return dict(found)
    missing = [name for name in objects if name not in found]
    if missing:
        few = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise FormatError(
            f"{where} has nothing for {len(missing):,} of {len(objects):,} objects: {few}; add "
            f"them, or leave them out of the list of objects"
        )
    return {name: found[name] for name in objects}


def _text(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise FormatError(f"{file} is not UTF-8 text: {one_line(error)}") from error
    if not text:
        raise FormatError(f"{file} is empty; write the text, or remove the file")
    return text


def extract_features(
    source: str | Path,
    output: str | Path,
    *,
    model: str | None = None,
    weights: str | Path | None = None,
    objects: Sequence[str] | None = None,
    download: bool = False,
    device: str = "cpu",
    batch: int = _AT_A_TIME,
    progress: Progress | None = None,
) -> tuple[Stimuli, tuple[int, int]]:
    """Write vectors of pictures or texts to an ``.npz`` file: ``names``, ``vectors``, ``model``.

    Parameters
    ----------
    source, objects
        As for `find_stimuli`.
    output : path
        Appears when all is done; until then ``output.partial`` keeps what there is, and a later
        call with the same model goes on from there.
    model : str, optional
        For pictures a model of timm, or a folder that it saved; for texts one of
        sentence-transformers, or its folder.
    weights : path, optional
        For pictures, the file with the weights of ``model``; by default the user's cache.
    download : bool
        Whether weights that are not there may be fetched.
    device : str
        As PyTorch calls it.
    batch : int
        Pictures or texts at a time.
    progress
        Called with the share that is done.

    Returns
    -------
    Stimuli, and the shape of the vectors
    """
    whole_number("batch", batch, least=1)
    check_progress(progress)
    if Path(output).suffix.lower() != ".npz":
        raise ParameterError(f"the output is {output}; it must end in .npz", parameter="output")
    stimuli = find_stimuli(source, objects)
    called = model or MODELS[stimuli.medium]
    kept = Partial(Path(f"{output}.partial"), f"{called} {weights or ''}".strip())
    done = kept.read(stimuli)
    missing = [name for name in stimuli.of if name not in done]
    if missing:
        encode = open_model(stimuli.medium, called, weights, download, device)
        with kept.appending() as file:
            for start in range(0, len(missing), batch):
                names = missing[start : start + batch]
                rows = encode([stimuli.of[name] for name in names])
                kept.write(file, stimuli, names, rows)
                done.update(zip(names, rows, strict=True))
                if progress is not None:
                    progress(len(done) / len(stimuli.of))
    vectors = np.stack([done[name] for name in stimuli.of]).astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise FormatError(
            f"{called} gives NaN or infinite numbers for {len(bad):,} objects, such as "
            f"{list(stimuli.of)[bad[0]]}; are these the weights of this model?"
        )
    with atomic_write(output) as target:
        np.savez(target, names=np.array(list(stimuli.of)), vectors=vectors, model=np.array(called))
    kept.path.unlink(missing_ok=True)
    return stimuli, (vectors.shape[0], vectors.shape[1])


@dataclass(frozen=True)
class Partial:
    """What is done already: a line that names the model, then batches, each as numpy writes it."""

    path: Path
    model: str

    def read(self, stimuli: Stimuli) -> dict[str, AnyArray]:
        """The vectors of what has not changed since; of another model none."""
        done: dict[str, AnyArray] = {}
        if not self.path.exists():
            return done
        with self.path.open("rb") as file:
            if file.readline() != self._line():
                file.close()
                self.path.unlink()
                return done
            whole = file.tell()
            while True:
                try:
                    marks = np.load(file, allow_pickle=False)
                    rows = np.load(file, allow_pickle=False)
                except (ValueError, EOFError, OSError):  # the end, or where it was cut off
                    break
                whole = file.tell()
                for mark, row in zip(marks.tolist(), rows, strict=True):
                    name, state = json.loads(mark)
                    if name in stimuli.of and state == _state(stimuli.of[name]):
                        done[name] = row
        os.truncate(self.path, whole)
        return done

    @contextmanager
    def appending(self) -> Iterator[BinaryIO]:
        """The file, to add to."""
        try:
            with self.path.open("ab") as file:
                if file.tell() == 0:
                    file.write(self._line())
                yield file
        except OSError as error:
            raise FormatError(f"{self.path} cannot be written: {one_line(error)}") from error

    def write(self, file: BinaryIO, stimuli: Stimuli, names: Sequence[str], rows: AnyArray) -> None:
        """Add a batch."""
        marks = [json.dumps([name, _state(stimuli.of[name])]) for name in names]
        np.save(file, np.array(marks))
        np.save(file, rows)
        file.flush()

    def _line(self) -> bytes:
        return json.dumps(self.model).encode() + b"\n"


def _state(stimulus: Any) -> Any:
    """What tells whether a picture or text has changed."""
    if not isinstance(stimulus, Path):
        return stimulus
    facts = stimulus.stat()
    return [facts.st_size, facts.st_mtime_ns]


def open_model(
    medium: Medium, model: str, weights: str | Path | None, download: bool, device: str
) -> Encoder:
    """A trained model, ready to encode; one line where it cannot be had."""
    with _offline(not download):
        try:
            import torch

            library = import_module("timm" if medium == "pictures" else "sentence_transformers")
        except ImportError as error:
            raise MissingExtraError("trilens features", "features") from error
        try:
            place = torch.device(device)
        except RuntimeError as error:
            raise wrong("device", device, "a device of PyTorch, such as cpu or cuda") from error
        if place.type == "cuda" and not torch.cuda.is_available():
            raise DeviceError(f"device={device!r}: PyTorch finds no GPU here; use cpu")
        if medium == "pictures":
            return _pictures(torch, library, model, weights, download, place)
        if weights is not None:
            raise ParameterError(
                "weights are of a model of pictures; of texts name the model's folder",
                parameter="weights",
            )
        return _texts(library, model, download, str(place))


def _pictures(
    torch: Any, timm: Any, model: str, weights: str | Path | None, download: bool, place: Any
) -> Encoder:
    settings: dict[str, Any] = {"num_classes": 0}
    if Path(model).is_dir():
        model = f"local-dir:{model}"
    elif not timm.is_model(model.split(":")[-1].split("/")[-1]) and ":" not in model:
        raise ParameterError(
            f"timm has no model {model!r}; timm.list_models() lists them, and a folder that "
            f"timm saved a model to can be given as well",
            parameter="model",
        )
    try:
        if weights is not None:
            if not Path(weights).is_file():
                raise FormatError(f"{weights} does not exist; give the file with the weights")
            network = timm.create_model(model, pretrained=False, **settings)
            timm.models.load_checkpoint(network, str(weights), strict=False)
            _check_loaded(timm, network, weights)
        else:
            if not download:
                _refuse_url(torch, timm, model)
            network = timm.create_model(model, pretrained=True, **settings)
    except (FormatError, ParameterError):
        raise
    except Exception as error:
        raise _not_there(model, error, download) from error
    network.eval().to(place)
    shape = timm.data.resolve_data_config({}, model=network)
    transform = timm.data.create_transform(**shape, is_training=False)

    def encode(files: Sequence[Path]) -> AnyArray:
        pictures = torch.stack([transform(_opened(file)) for file in files]).to(place)
        with torch.inference_mode():
            return np.asarray(network(pictures).float().cpu().numpy())

    return encode


def _check_loaded(timm: Any, network: Any, weights: str | Path) -> None:
    """Weights of another model would load nothing, and say nothing."""
    given = set(timm.models.load_state_dict(str(weights)))
    wanted = {name for name, _ in network.named_parameters()}
    if len(wanted & given) < len(wanted):
        lacking = sorted(wanted - given)
        raise FormatError(
            f"{weights} lacks {len(lacking):,} of the {len(wanted):,} parameters of the model, "
            f"such as {lacking[0]}; are they the weights of another one?"
        )


def _refuse_url(torch: Any, timm: Any, model: str) -> None:
    """Older weights come from an address: they must be in PyTorch's cache."""
    known = timm.models.get_pretrained_cfg(model) if ":" not in model else None
    if known is None or known.hf_hub_id or not known.url:
        return
    file = Path(torch.hub.get_dir()) / "checkpoints" / Path(known.url).name
    if not file.exists():
        raise FileNotFoundError(str(file))


def _opened(file: Path) -> Any:
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(file) as picture:
            upright = ImageOps.exif_transpose(picture).convert("RGBA")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise FormatError(
            f"{file} cannot be read as a picture ({one_line(error, 80)}); replace or remove it"
        ) from error
    white = Image.new("RGBA", upright.size, "white")
    white.alpha_composite(upright)
    return white.convert("RGB")


def _texts(sentence_transformers: Any, model: str, download: bool, device: str) -> Encoder:
    try:
        network = sentence_transformers.SentenceTransformer(
            model, local_files_only=not download, device=device
        )
    except Exception as error:
        raise _not_there(model, error, download) from error

    def encode(texts: Sequence[str]) -> AnyArray:
        found = network.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)

    return encode


def _not_there(model: str, error: Exception, download: bool) -> FormatError:
    if download:
        return FormatError(f"the model {model} cannot be had: {one_line(error, 200)}")
    return FormatError(
        f"the weights of {model} are not on this machine (looked in the cache); fetch them with "
        f"--download, or give a folder or file that you have with --model or --weights"
    )


@contextmanager
def _offline(wanted: bool) -> Iterator[None]:
    """Hugging Face's libraries fetch nothing inside."""
    if not wanted:
        yield
        return
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    # read once, when it is imported
    constants = sys.modules.get("huggingface_hub.constants")
    was = getattr(constants, "HF_HUB_OFFLINE", None)
    if constants is not None:
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]
    try:
        yield
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before
        if constants is not None:
            constants.HF_HUB_OFFLINE = was  # type: ignore[attr-defined]
