"""The USPS digits: 9298 images of 16 x 16 pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trilens._typing import AnyArray, FloatArray, IntArray
from trilens.datasets.fetch import Address, Origin, find_files, notice
from trilens.errors import MissingExtraError

CITATION = (
    "Jonathan J. Hull. A database for handwritten text recognition research. IEEE Transactions "
    "on Pattern Analysis and Machine Intelligence 16(5):550-554, 1994."
)
LICENSE = "No licence stated; cite the paper when publishing."

#: Neither address could be tried when this was written; whatever they send is checked.
ORIGIN = Origin(
    homepage="https://www.kaggle.com/datasets/bistaumanga/usps-dataset",
    addresses=(
        Address(
            "https://www.kaggle.com/api/v1/datasets/download/bistaumanga/usps-dataset",
            member="{name}",
        ),
        Address(
            "https://raw.githubusercontent.com/niuers/Learning-From-Data-A-Short-Course/"
            "35684e893b63bf4039bafcc6d34fe935851baf9a/data/usps.h5"
        ),
    ),
    notice=notice("USPS", CITATION, LICENSE),
)


@dataclass(frozen=True, eq=False)
class USPS:
    """The USPS digits.

    Attributes
    ----------
    images : (9298, 256) array of float
        Grey values from 0 to 1, the rows of an image one after another; the 7291 training
        images stand before the 2007 test images.
    labels : (9298,) array of int
        The digit, 0 to 9.
    is_train : (9298,) array of bool
    """

    images: FloatArray
    labels: IntArray
    is_train: AnyArray
    citation: str = CITATION
    license: str = LICENSE


def load_usps() -> USPS:
    """The USPS digits, training and test images together.

    Returns
    -------
    USPS

    Raises
    ------
    DatasetError
        If the file cannot be obtained, or is corrupted.
    MissingExtraError
        If h5py is not installed.
    """
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("load_usps", "data") from None

    (path,) = find_files(["usps/usps.h5"], ORIGIN)
    with h5py.File(path, "r") as file:
        images = np.concatenate([file["train/data"][:], file["test/data"][:]])
        labels = np.concatenate([file["train/target"][:], file["test/target"][:]])
        n_train = len(file["train/target"])
    return USPS(
        images=images.astype(np.float64),
        labels=labels.astype(np.int64),
        is_train=np.arange(len(labels)) < n_train,
    )
