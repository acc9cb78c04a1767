"""ImageNet similarity: which pictures of ImageNet's validation set look alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from trilens._parameters import wrong
from trilens._typing import AnyArray, IntArray
from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import DatasetError, MissingExtraError
from trilens.statements import Statements

CITATION = (
    "Brett D. Roads and Bradley C. Love. Enriching ImageNet with human similarity judgments and "
    "psychological embeddings. IEEE/CVF Conference on Computer Vision and Pattern Recognition, "
    "2021."
)
LICENSE = "CC BY 4.0 (the answers; ImageNet's pictures have their own terms)"


def _origin(address: str, told: bool = False) -> Origin:
    """A file of the authors' OSF project, at the address that cblearn 0.4 uses."""
    return Origin(
        homepage="https://osf.io/cn2s3/ (val/obs/psiz0.4.1 and val/catalogs/psiz0.4.1)",
        addresses=(Address(f"https://osf.io/download/{address}/"),),
        notice=notice("ImageNet similarity", CITATION, LICENSE) if told else "",
    )


#: Not tried by us.
ORIGINS = {
    "imagenet/obs-118.hdf5": _origin("ej6sz", told=True),
    "imagenet/obs-195.hdf5": _origin("x6dht", told=True),
    "imagenet/catalog.hdf5": _origin("bf3e2"),
}
_VERSIONS = {"0.1": "imagenet/obs-118.hdf5", "0.2": "imagenet/obs-195.hdf5"}


@dataclass(frozen=True, eq=False)
class ImageNetSimilarity:
    """Which pictures look alike.

    Attributes
    ----------
    statements : Statements
        Of kind ``closer``, with ``raters`` (the sessions), ``seconds`` and ``questions``: the
        screen that a row comes from. On a screen people chose the two of eight pictures that
        look most like a ninth, the best first: 13 rows, which depend on each other.
    classes : (n,) array of int
        The class of each picture of ``statements``, by the catalogue's number.
    """

    statements: Statements
    classes: IntArray
    citation: str = CITATION
    license: str = LICENSE

    @property
    def names(self) -> tuple[str, ...]:
        """The catalogue's file, or its number, of each picture."""
        return self.statements.names


def load_imagenet_similarity(version: Literal["0.1", "0.2"] = "0.1") -> ImageNetSimilarity:
    """Which pictures of ImageNet's validation set look alike (Roads and Love, 2021).

    Parameters
    ----------
    version : {"0.1", "0.2"}
        ``"0.1"``: 25,273 screens, one picture of each of the 1,000 classes; ``"0.2"``: 384,277
        screens (five million rows), 50 pictures of each class.

    Returns
    -------
    ImageNetSimilarity

    Raises
    ------
    DatasetError
        If the files cannot be obtained, or are corrupted.
    MissingExtraError
        If h5py is not installed.
    """
    if not isinstance(version, str) or version not in _VERSIONS:
        raise wrong("version", version, "'0.1' or '0.2'")
    paths = [_VERSIONS[version], "imagenet/catalog.hdf5"]
    screens_file, catalogue_file = (find_files([path], ORIGINS[path])[0] for path in paths)
    screens = _arrays(screens_file, "stimulus_set", "n_select", "is_ranked")
    catalogue = _arrays(catalogue_file, "stimulus_id", "class_id")
    shown_ = screens["stimulus_set"]
    whole = (shown_ >= 0).all(axis=1) & (screens["n_select"].ravel() == 2)
    if shown_.shape[1:] != (9,) or not (whole & screens["is_ranked"].ravel().astype(bool)).all():
        raise DatasetError(f"{screens_file}: not screens on which two of eight were ranked")
    if shown_.max() >= len(catalogue["stimulus_id"]):
        raise DatasetError(f"{screens_file}: pictures that {catalogue_file} does not list")
    # the first of the two beats seven others, the second beats six
    near, far = zip(*[(1, k) for k in range(2, 9)], *[(2, k) for k in range(3, 9)], strict=True)
    used, ids = np.unique(shown_, return_inverse=True)
    ids = ids.reshape(shown_.shape)
    rows = np.stack([np.repeat(ids[:, [0]], 13, axis=1), ids[:, near], ids[:, far]], axis=2)
    session, milliseconds = screens.get("session_id"), screens.get("rt_ms")
    named = catalogue.get("stimulus_filepath", catalogue["stimulus_id"])[used]
    names = [n.decode() if isinstance(n, bytes) else str(n) for n in named.tolist()]
    return ImageNetSimilarity(
        Statements(
            rows.reshape(-1, 3),
            names=names,
            kind="closer",
            raters=None if session is None else np.repeat(session.ravel(), 13),
            questions=np.repeat(np.arange(len(ids)), 13),
            seconds=None if milliseconds is None else np.repeat(milliseconds.ravel(), 13) / 1000,
        ),
        classes=catalogue["class_id"][used].astype(np.int64),
    )


def _arrays(path: Path, *needed: str) -> dict[str, AnyArray]:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("load_imagenet_similarity", "data") from None
    with h5py.File(path, "r") as file:
        held = {name: np.asarray(value[()]) for name, value in file.items()}
    for name in needed:
        if name not in held:
            raise DatasetError(f"{path}: has no {name!r}")
    return held
