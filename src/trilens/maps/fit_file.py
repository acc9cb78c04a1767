"""Fits as files: written whole, checked when read, without pickle.

A numpy archive. The member ``header`` is JSON: what the file is, its version, what was fitted, and
the SHA-256 of every array. The answers are in it where they are held in memory; of files too large
to hold, what the questions need of them is.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import asdict
from typing import Any

import numpy as np

from trilens._typing import AnyArray
from trilens.answers import Answers
from trilens.errors import FormatError
from trilens.files.output import atomic_write, refuse_to_overwrite
from trilens.files.source import PathLike, checked_path, one_line
from trilens.kinds import KINDS, Kind
from trilens.maps.features import Block, Features
from trilens.maps.fitted import Fit
from trilens.maps.fitting import How, Raters
from trilens.maps.likelihood import in_own_order
from trilens.maps.map import Map
from trilens.maps.rater_weights import RaterWeights
from trilens.maps.selection import HeldOutScores, MapSettings
from trilens.maps.support import Support
from trilens.statements import Statements
from trilens.statements.reading import Reading, about_copies
from trilens.statements.value import COLUMNS
from trilens.study_design import Design

#: What this trilens writes, and the newest that it reads.
VERSION = 1
_MARK = "trilens fit"
_HEADER = "header"
_SPARSE = ("data", "indices", "indptr")
#: What the file says of the map, and of the fit, by the names that they have there.
_OF_MAP = ("kind", "lapse", "length", "alpha")
_OF_FIT = ("log_likelihood", "n_iter", "converged", "seed", "n_draws")
#: What is worked out before the answers are left behind: numbers, and arrays by their members.
_NUMBERS = ("dispersion", "overdispersion", "violations")
_ARRAYS = {"draws": "draws", "place_cov": "place_cov", "residual": "left_over", "plane": "plane"}
#: Raters' weights by their members.
_OF_WEIGHTS = {
    "weights": "rater_weights",
    "sharpness": "rater_sharpness",
    "spread": "rater_spread",
    "lapses": "rater_own_lapses",
}
#: What is asked for, as far as it is none of the machine's.
_HOW = ("n_components", "l2", "length", "lapses", "raters", "feature_share", "max_iter", "tol")


def save_fit(fitted: Fit, path: PathLike) -> None:
    """Write a fit; see `Fit.save`."""
    inner, rank = fitted.canonical
    given, source = fitted.statements, fitted.source
    if isinstance(source, Answers) and source.in_files:
        refuse_to_overwrite(path, source.source)
    arrays: dict[str, AnyArray] = {"X": inner.map.X, "asked": inner.asked, "rank": rank}
    header: dict[str, Any] = {
        "file": _MARK,
        "version": VERSION,
        **{name: getattr(inner.map, name) for name in _OF_MAP},
        **{name: getattr(inner, name) for name in _OF_FIT},
        "how": {name: _plain(getattr(inner.how, name)) for name in _HOW},
        "l2": inner.settings.l2,
        "shares": list(inner.settings.shares),
        "gain": inner.settings.gain,
        "scores": [[d, value] for d, value in inner.settings.scores.all().items()],
        "answers": inner.n_answers,
        "held": given is not None,
        "support": inner.support.reason,
        "lapse_interval": list(inner.lapse_interval),
        "kind_doubt": inner.kind_doubt,
    }
    if inner.map.names is not None:
        arrays["names"] = np.array(inner.map.names, dtype=np.str_)
    if given is None:
        header["design"] = asdict(inner.design)
        header |= {name: getattr(inner, name) for name in _NUMBERS}
        arrays |= {member: getattr(inner, fact) for member, fact in _ARRAYS.items()}
        arrays["sample"] = np.asarray(inner.sample.triples)
        if inner.sample.raters is not None:
            arrays["sample_raters"] = np.asarray(inner.sample.raters)
    else:
        arrays["triples"] = np.asarray(given.triples)
        for name in COLUMNS:
            column = getattr(given, name)
            if column is not None:
                arrays[f"column_{name}"] = _storable(column)
    header["blocks"] = _add_features(inner.features, arrays)
    header["features"] = None if inner.features is None else list(inner.features.names)
    header["rater_lapses"] = [
        [_plain(name), lapse, *inner.raters.intervals[name]]
        for name, lapse in inner.raters.lapses.items()
    ]
    header["rater_gain"] = inner.raters.gain
    weights = inner.raters.weights
    header["weighed"] = None if weights is None else [_plain(name) for name in weights.names]
    if weights is not None:
        header["sharpness_spread"] = weights.sharpness_spread
        arrays |= {member: getattr(weights, name) for name, member in _OF_WEIGHTS.items()}
    if inner.weights is not None:
        arrays["weights"] = inner.weights
    header["sha256"] = {name: _digest(array) for name, array in arrays.items()}
    data = io.BytesIO()
    text = json.dumps(header, sort_keys=True, default=_plain).encode()
    everything: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    np.savez_compressed(data, **everything)
    with atomic_write(path) as file:
        file.write(data.getvalue())


def load(path: PathLike) -> Fit:
    """Read a fit that `Fit.save` or ``trilens fit`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : path

    Raises
    ------
    FormatError
        For a file that was cut short or edited, one of a newer trilens, and any other file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trilens.maps.fitted import fit
    >>> from trilens.simulate import study
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "study.fit"
    >>> F = fit(study(n_statements=600).statements)
    >>> F.save(file)
    >>> load(file).medoid().name == F.medoid().name
    True
    """
    name = checked_path(path)
    arrays = _read(name)
    header = _header(arrays, name)
    try:
        return _restored(header, arrays, name)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(f"{name}: a damaged fit: {one_line(error, 80)}; save it anew") from error


def is_fit(path: Any) -> bool:
    """Whether a file is a fit, or is called one: `load` says what is wrong with it."""
    try:
        name = checked_path(path)
        if name.lower().endswith(".fit"):
            return True
        if not os.path.isfile(name):
            return False  # a pipe can be read only once
        with zipfile.ZipFile(name) as archive:
            return {f"{_HEADER}.npy", "X.npy"} <= set(archive.namelist())
    except (OSError, NotImplementedError, zipfile.BadZipFile, FormatError, ValueError, TypeError):
        return False


def _restored(header: dict[str, Any], arrays: dict[str, AnyArray], file: str) -> Fit:
    X = np.asarray(arrays["X"], dtype=np.float64)
    n = len(X)
    names = tuple(arrays["names"].tolist()) if "names" in arrays else None
    model = Map(X, names=names, **{name: header[name] for name in _OF_MAP})
    rank = arrays["rank"].astype(np.int64)
    of_given = None if names is None else tuple(names[i] for i in rank.tolist())
    given, doubt = None, header.get("kind_doubt")  # older files have none
    stored: dict[str, Any] = {
        "support": Support(header["support"]),
        "lapse_interval": tuple(header["lapse_interval"]),
        "kind_doubt": doubt,
    }
    source: Answers | Statements | None = None
    if header["held"]:
        columns: dict[str, Any] = {
            key.removeprefix("column_"): array
            for key, array in arrays.items()
            if key.startswith("column_")
        }
        given = Statements(arrays["triples"], n, names=of_given, kind=header["kind"], **columns)
        sample, _ = in_own_order(given)
        source = given if doubt is None else _doubted(given, doubt, file)
    else:
        sample = Statements(
            arrays["sample"],
            n,
            names=names,
            kind=header["kind"],
            raters=arrays.get("sample_raters"),
        )
        design = {**header["design"], "landmarks": tuple(header["design"]["landmarks"])}
        stored |= {
            "design": Design(**design),
            "n_answers": header["answers"],
            **{name: header[name] for name in _NUMBERS},
            **{fact: arrays[member] for member, fact in _ARRAYS.items()},
        }
    who = {_hashable(name): (lapse, low, high) for name, lapse, low, high in header["rater_lapses"]}
    weights = None
    if header["weighed"] is not None:
        weights = RaterWeights(
            names=header["weighed"],
            sharpness_spread=header["sharpness_spread"],
            **{name: arrays[member] for name, member in _OF_WEIGHTS.items()},
        )
    features = None
    if header["features"] is not None:
        blocks = tuple(_block(i, about, arrays) for i, about in enumerate(header["blocks"]))
        features = Features(tuple(header["features"]), blocks)
    settings = MapSettings(
        X.shape[1],
        header["l2"],
        header["length"],
        HeldOutScores({int(d): value for d, value in header["scores"]}),
        None,
        tuple(header["shares"]),
        None if header["gain"] is None else tuple(header["gain"]),
    )
    gain = header["rater_gain"]
    raters = Raters(
        {name: told[0] for name, told in who.items()},
        {name: (told[1], told[2]) for name, told in who.items()},
        weights,
        None if gain is None else tuple(gain),
        named=header["held"],
    )
    found = Fit(
        model,
        arrays["asked"].astype(np.int64),
        source,
        sample if given is not None else None,
        sample,
        How(**header["how"]),
        settings,
        raters,
        features,
        arrays.get("weights"),
        **{name: header[name] for name in _OF_FIT},
        rows_given=None if given is None else given.subset(np.argsort(rank)),
        stored=stored,
    )
    return found.among(given, of_given, rank)


def _doubted(given: Statements, doubt: tuple[Kind | None, str], file: str) -> Answers:
    """The answers of a fit whose kind was assumed, so that whatever is asked of it says so."""
    reading = Reading(
        files=(file,),
        kind=given.kind,
        kind_told=False,
        columns={},
        left_out=(),
        header=True,
        rows=len(given),
        objects=given.n_objects,
        raters=None if given.raters is None else len(set(given.raters.tolist()) - {""}),
        fits=doubt[0],
        doubt=doubt[1],
        concerns=tuple(about_copies(given)),
    )
    answers = Answers.read_before(given, reading)
    answers.kind_judged = True
    return answers


def _add_features(features: Features | None, arrays: dict[str, AnyArray]) -> list[dict[str, Any]]:
    blocks = []
    for i, block in enumerate(() if features is None else features.blocks):
        arrays |= {f"known_{i}": block.known, f"centre_{i}": block.centre}
        if isinstance(block.rows, np.ndarray):
            arrays[f"rows_{i}"] = block.rows
        else:
            arrays |= {f"rows_{i}_{part}": getattr(block.rows, part) for part in _SPARSE}
        blocks.append({"scale": block.scale, "shape": list(block.rows.shape)})
    return blocks


def _block(i: int, about: dict[str, Any], arrays: dict[str, AnyArray]) -> Block:
    rows: Any = arrays.get(f"rows_{i}")
    if rows is None:
        from scipy.sparse import csr_array

        rows = csr_array(
            tuple(arrays[f"rows_{i}_{part}"] for part in _SPARSE), shape=tuple(about["shape"])
        )
    return Block(rows, arrays[f"known_{i}"], arrays[f"centre_{i}"], about["scale"])


def _read(name: str) -> dict[str, AnyArray]:
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        raise FormatError(f"{name}: {error.strerror or error}; check the path") from error
    except ValueError as error:  # a NUL, or half a character
        raise FormatError(f"{one_line(repr(name), 60)} is no path: {error}") from error
    try:
        if not data.startswith(b"PK"):
            raise ValueError("it is no numpy archive")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, KeyError, TypeError, AttributeError, NotImplementedError,
            zipfile.BadZipFile, zlib.error) as error:  # fmt: skip
        raise FormatError(
            f"{name} is no fit, or was cut short: {one_line(error, 80)}; a fit is what "
            "trilens fit -o study.fit or Fit.save writes"
        ) from error


def _header(arrays: dict[str, AnyArray], name: str) -> dict[str, Any]:
    try:
        header = json.loads(bytes(arrays.pop(_HEADER)).decode())
        mark, version = header["file"], header["version"]
    except (KeyError, ValueError, TypeError) as error:
        raise FormatError(
            f"{name} is no fit; one is written by trilens fit -o study.fit or Fit.save"
        ) from error
    if mark != _MARK:
        raise FormatError(f"{name} holds {mark}, not a fit")
    if not isinstance(version, int) or version > VERSION:
        raise FormatError(
            f"{name} was written by a newer trilens (version {version} of the format; this one "
            f"reads up to {VERSION}); update trilens"
        )
    digests = header.get("sha256", {})
    if set(digests) != set(arrays) or any(
        _digest(array) != digests[key] for key, array in arrays.items()
    ):
        raise FormatError(f"{name} was changed after it was written; save the fit anew")
    if header.get("kind") not in KINDS:
        raise FormatError(f"{name} is of kind {header.get('kind')!r}; save the fit anew")
    return dict(header)


def _storable(column: AnyArray) -> AnyArray:
    """A column without objects: text where it holds any."""
    return column.astype(np.str_) if column.dtype == object else column


def _digest(array: AnyArray) -> str:
    about = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(about + np.ascontiguousarray(array).tobytes()).hexdigest()


def _plain(value: Any) -> Any:
    """A parameter or a rater's name as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else None


def _hashable(name: Any) -> Any:
    return tuple(name) if isinstance(name, list) else name
