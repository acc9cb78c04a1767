"""Choice maps as files: written whole, checked when read, without pickle.

A numpy archive. The member ``header`` is JSON: what the file is, its version, what was fitted, and
the SHA-256 of every array. Answers are not kept: what was worked out of them is.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np

from trilens._typing import AnyArray
from trilens.errors import FormatError, ParameterError
from trilens.files.output import atomic_write
from trilens.files.source import PathLike, checked_path, one_line
from trilens.kinds import KINDS
from trilens.maps.choice_map import ChoiceMap
from trilens.maps.choice_model import ChoiceModel
from trilens.maps.features import Block, Features
from trilens.maps.rater_weights import RaterWeights
from trilens.maps.selection import HeldOutScores
from trilens.statements import Statements

#: What this trilens writes, and the newest that it reads.
VERSION = 1
_MARK = "trilens map"
_HEADER = "header"
#: Parameters that are kept; what a machine has is none of the map.
_PARAMETERS = (
    *("n_components", "l2", "length", "lapses", "raters", "feature_share"),
    *("max_iter", "tol", "random_state", "kind"),
)
_SPARSE = ("data", "indices", "indptr")


def save_map(M: ChoiceMap, path: PathLike) -> None:
    """Write a fitted map; see `ChoiceMap.save`."""
    if M.streamed_ is not None:
        raise ParameterError(
            "a map that was streamed from files cannot be saved; write its coordinates as a table, "
            "or fit a map to read_statements(...)"
        )
    arrays: dict[str, AnyArray] = {"embedding": M.embedding_, "place_errors": M.place_errors_}
    if M.names_ is not None:
        arrays["names"] = np.array(M.names_, dtype=np.str_)
    if M._unknown is not None:
        arrays["unknown"] = M._unknown
    blocks = []
    for i, block in enumerate(() if M.features_ is None else M.features_.blocks):
        arrays |= {f"known_{i}": block.known, f"centre_{i}": block.centre}
        if isinstance(block.rows, np.ndarray):
            arrays[f"rows_{i}"] = block.rows
        else:
            arrays |= {f"rows_{i}_{part}": getattr(block.rows, part) for part in _SPARSE}
        blocks.append({"scale": block.scale, "shape": list(block.rows.shape)})
    raters = M._raters
    if raters is not None:
        arrays |= {
            "rater_weights": raters.weights,
            "rater_sharpness": raters.sharpness,
            "rater_spread": raters.spread,
            "rater_own_lapses": raters.lapses,
        }
    given = {name: _plain(getattr(M, name)) for name in _PARAMETERS}
    header = {
        "file": _MARK,
        "version": VERSION,
        "parameters": given,
        "kind": M.model_.kind,
        "length": M.length_,
        "alpha": M.model_.alpha,
        "l2": M.l2_,
        "lapse": M.lapse_,
        "interval": [float(x) for x in ((M.error_rate_interval_ and M._interval) or (0.0, 1.0))],
        "violations": M.violations_,
        "log_likelihood": M.log_likelihood_,
        "n_iter": M.n_iter_,
        "converged": M.converged_,
        "cv_scores": [[d, score] for d, score in M.cv_scores_.items()],
        "features": None if M.features_ is None else list(M.features_.names),
        "blocks": blocks,
        "shares": list(M.feature_shares_.values()),
        "gain": None if M.feature_gain_ is None else [float(x) for x in M.feature_gain_],
        "rater_names": [_plain(name) for name in M.rater_lapses_],
        "rater_lapses": [float(x) for x in M.rater_lapses_.values()],
        "rater_lapse_intervals": [[float(x) for x in M.rater_lapse_intervals_[r]]
                                  for r in M.rater_lapses_],
        "weighed": None if raters is None else [_plain(name) for name in raters.names],
        "sharpness_spread": None if raters is None else raters.sharpness_spread,
        "rater_gain": None if M.rater_gain_ is None else [float(x) for x in M.rater_gain_],
        "sha256": {name: _digest(array) for name, array in arrays.items()},
    }  # fmt: skip
    data = io.BytesIO()
    text = json.dumps(header, sort_keys=True).encode()
    everything: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    np.savez_compressed(data, **everything)
    with atomic_write(path) as file:
        file.write(data.getvalue())


def load_map(path: PathLike) -> ChoiceMap:
    """Read a map that `ChoiceMap.save` wrote.

    It predicts, scores and places new objects as the map that was saved did, and every question
    takes it as ``model=``. Nothing in the file is executed.

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
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "map.npz"
    >>> S = Statements([[1, 0, 2], [1, 0, 3], [2, 0, 3], [2, 1, 3]])
    >>> M = ChoiceMap(1, l2=0.1).fit(S)
    >>> M.save(file)
    >>> load_map(file).score(S) == M.score(S)
    True
    """
    name = checked_path(path)
    arrays = _read(name)
    header = _header(arrays, name)
    try:
        return _restored(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError(f"{name}: a damaged map: {one_line(error, 80)}; save it anew") from error


def is_map(path: PathLike) -> bool:
    """Whether a file is a map, or what is left of one."""
    try:
        with zipfile.ZipFile(checked_path(path)) as archive:
            return {f"{_HEADER}.npy", "embedding.npy"} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile, FormatError):
        return False


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
            raise ValueError("it is no .npz file")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, KeyError, TypeError, AttributeError, zipfile.BadZipFile,
            zlib.error) as error:  # fmt: skip
        raise FormatError(
            f"{name} is no map, or was cut short: {one_line(error, 80)}; a map is what "
            "ChoiceMap.save or trilens embed -o map.npz writes"
        ) from error


def _header(arrays: dict[str, AnyArray], name: str) -> dict[str, Any]:
    try:
        header = json.loads(bytes(arrays.pop(_HEADER)).decode())
        mark, version = header["file"], header["version"]
    except (KeyError, ValueError, TypeError) as error:
        raise FormatError(
            f"{name} is no map; one is written by ChoiceMap.save or trilens embed -o map.npz"
        ) from error
    if mark != _MARK:
        raise FormatError(f"{name} holds {mark}, not a map")
    if not isinstance(version, int) or version > VERSION:
        raise FormatError(
            f"{name} was written by a newer trilens (version {version} of the format; this one "
            f"reads up to {VERSION}); update trilens"
        )
    digests = header.get("sha256", {})
    if set(digests) != set(arrays) or any(
        _digest(array) != digests[key] for key, array in arrays.items()
    ):
        raise FormatError(f"{name} was changed after it was written; save the map anew")
    if header.get("kind") not in KINDS:
        raise FormatError(f"{name} is of kind {header.get('kind')!r}; save the map anew")
    return dict(header)


def _restored(header: dict[str, Any], arrays: dict[str, AnyArray]) -> ChoiceMap:
    M = ChoiceMap(**header["parameters"])
    X = np.asarray(arrays["embedding"], dtype=np.float64)
    n, d = X.shape
    names = None
    if "names" in arrays:
        names = tuple(arrays["names"].tolist())
    nothing = Statements(np.empty((0, 3), np.int32), n, names=names, kind=header["kind"])
    M.model_ = ChoiceModel(X, header["lapse"], header["kind"], header["length"], header["alpha"])
    M.embedding_, M.names_, M.n_components_ = X, nothing._names, d
    M.l2_, M.length_, M.lapse_ = header["l2"], header["length"], header["lapse"]
    M.error_rate_ = M.model_.error_rate
    M._scores = HeldOutScores({int(rung): score for rung, score in header["cv_scores"]})
    M._interval = tuple(header["interval"])
    M._errors, M._violations = arrays["place_errors"], header["violations"]
    M._fitted_to, M._unknown = (nothing, None), arrays.get("unknown")
    who = [tuple(name) if isinstance(name, list) else name for name in header["rater_names"]]
    M.rater_lapses_ = dict(zip(who, header["rater_lapses"], strict=True))
    M.rater_lapse_intervals_ = dict(
        zip(who, map(tuple, header["rater_lapse_intervals"]), strict=True)
    )
    raters = None
    if header["weighed"] is not None:
        raters = RaterWeights(
            header["weighed"],
            arrays["rater_weights"],
            arrays["rater_sharpness"],
            arrays["rater_spread"],
            header["sharpness_spread"],
            arrays["rater_own_lapses"],
        )
    gain = header["rater_gain"]
    M._tell_raters(raters, None if gain is None else tuple(gain))
    M.log_likelihood_, M.n_iter_ = header["log_likelihood"], header["n_iter"]
    M.converged_, M.streamed_ = header["converged"], None
    features = None
    if header["features"] is not None:
        features = Features(
            tuple(header["features"]),
            tuple(_block(i, told, arrays) for i, told in enumerate(header["blocks"])),
        )
    gain = header["gain"]
    M._tell_features(features, tuple(header["shares"]), None if gain is None else tuple(gain))
    return M


def _block(i: int, told: dict[str, Any], arrays: dict[str, AnyArray]) -> Block:
    rows: Any = arrays.get(f"rows_{i}")
    if rows is None:
        from scipy.sparse import csr_array

        rows = csr_array(
            tuple(arrays[f"rows_{i}_{part}"] for part in _SPARSE), shape=tuple(told["shape"])
        )
    return Block(rows, arrays[f"known_{i}"], arrays[f"centre_{i}"], told["scale"])


def _digest(array: AnyArray) -> str:
    about = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(about + np.ascontiguousarray(array).tobytes()).hexdigest()


def _plain(value: Any) -> Any:
    """A parameter or a rater's name as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value if value is None or isinstance(value, (str, int, float, bool)) else None
