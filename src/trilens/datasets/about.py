"""Whose data a data set is, and where it comes from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trilens._parameters import wrong
from trilens.datasets import (
    ca_hepth,
    cars,
    food,
    imagenet,
    material,
    musicians,
    nights,
    things,
    usps,
)
from trilens.datasets.fetch import Origin, checksums


@dataclass(frozen=True)
class About:
    """Whose data a data set is, and where it comes from.

    Attributes
    ----------
    name : str
    loader : str
        The function that loads it.
    title, citation, license : str
    homepages, addresses : tuple of str
        Pages for a person, and what is downloaded from. None of the addresses could be tried
        when this was written.
    checksum : {"published", "first download"}
        What a file must agree with: a published sha256, or that of its first download.
    """

    name: str
    loader: str
    title: str
    citation: str
    license: str
    homepages: tuple[str, ...]
    addresses: tuple[str, ...]
    checksum: str

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.name}: {self.title} (trilens.datasets.{self.loader})",
                f"cite: {self.citation}",
                f"licence: {self.license}",
                *(f"page: {page}" for page in self.homepages),
                *(f"downloaded from: {address}" for address in self.addresses),
                f"sha256: {self.checksum}",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}


def _of(name: str, loader: str, title: str, module: Any, *origins: Origin) -> About:
    return About(
        name=name,
        loader=loader,
        title=title,
        citation=module.CITATION,
        license=module.LICENSE,
        homepages=tuple(dict.fromkeys(origin.homepage for origin in origins)),
        addresses=tuple(address.url for origin in origins for address in origin.addresses),
        checksum="published"
        if any(path.startswith(f"{name}/") for path in checksums())
        else "first download",
    )


_ALL = {
    one.name: one
    for one in (
        _of("cars", "load_cars", "the most central of three cars", cars, cars.ORIGIN),
        _of(
            *("things", "load_things_odd_one_out", "the odd one out of three objects", things),
            *(things.ORIGIN, things.TEST_ORIGIN, things.ALL_ORIGIN, things.NAMES_ORIGIN),
        ),
        _of("food", "load_food", "which dishes taste alike", food, food.ORIGIN),
        _of("material", "load_material", "which materials look alike", material, material.ORIGIN),
        _of(
            *("musicians", "load_musicians", "which musicians are alike", musicians),
            *(musicians.ORIGIN, musicians.NAMES_ORIGIN),
        ),
        _of(
            "nights",
            "load_nights",
            "which of two pictures looks more like a third",
            nights,
            nights.ORIGIN,
        ),
        _of(
            *(
                "imagenet",
                "load_imagenet_similarity",
                "pictures of ImageNet that look alike",
                imagenet,
            ),
            *imagenet.ORIGINS.values(),
        ),
        _of("usps", "load_usps", "handwritten digits", usps, usps.ORIGIN),
        _of("ca-HepTh", "load_ca_hepth", "who wrote papers with whom", ca_hepth, ca_hepth.ORIGIN),
    )
}
#: The data sets that `about` knows.
NAMES = tuple(_ALL)


def about(name: str) -> About:
    """Whose data a data set is, under which licence, and where it comes from.

    Parameters
    ----------
    name : str
        One of ``trilens.datasets.NAMES``.

    Returns
    -------
    About

    Examples
    --------
    >>> print(about("material").citation[:46])
    Manuel Lagunas, Sandra Malpica, Ana Serrano, E
    >>> about("nights").checksum
    'first download'
    """
    if not isinstance(name, str) or name not in _ALL:
        raise wrong("name", name, f"one of {', '.join(NAMES)}")
    return _ALL[name]
