"""The public data sets: whose they are, under which license, and where their files come from.

None of the addresses could be tried when this was written; whatever they send is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from trilens._parameters import wrong
from trilens.datasets.fetch import Address, Origin, checksums, find_files


@dataclass(frozen=True)
class About:
    """Whose data a data set is, and where it comes from.

    Attributes
    ----------
    name : str
    loader : str
        The function that loads it.
    title, citation, license : str
    origins : mapping of str to Origin
        Where each file comes from, by its place below TRILENS_DATA; a place that ends in ``/``
        stands for all files of that folder.
    """

    name: str
    loader: str
    title: str
    citation: str
    license: str
    origins: Mapping[str, Origin]

    @property
    def homepages(self) -> tuple[str, ...]:
        """Pages for a person."""
        return tuple(dict.fromkeys(origin.homepage for origin in self.origins.values()))

    @property
    def addresses(self) -> tuple[str, ...]:
        """What is downloaded from."""
        return tuple(
            address.url for origin in self.origins.values() for address in origin.addresses
        )

    @property
    def checksum(self) -> str:
        """``"published"``, or ``"first download"`` where a file must agree with that one."""
        known = any(path.startswith(tuple(self.origins)) for path in checksums())
        return "published" if known else "first download"

    @property
    def notice(self) -> str:
        """What a person who downloads it is told."""
        return f"{self.name}: please cite {self.citation} License: {self.license}"

    def find(self, *paths: str) -> list[Path]:
        """The files at places below TRILENS_DATA, in the cache or downloaded; see `find_files`."""
        found: dict[str, Path] = {}
        for place, origin in self.origins.items():
            wanted = [path for path in paths if path == place or place == path.split("/")[0] + "/"]
            # once, with the answers, which come before the names of the objects
            files = find_files(wanted, origin, "" if found else self.notice)
            found.update(zip(wanted, files, strict=True))
        return [found[path] for path in paths]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.name}: {self.title} (trilens.datasets.{self.loader})",
                f"cite: {self.citation}",
                f"license: {self.license}",
                *(f"page: {page}" for page in self.homepages),
                *(f"downloaded from: {address}" for address in self.addresses),
                f"sha256: {self.checksum}",
            ]
        )


def about(name: str) -> About:
    """Whose data a data set is, under which license, and where it comes from.

    Parameters
    ----------
    name : str
        One of ``trilens.datasets.NAMES``.

    Examples
    --------
    >>> print(about("material").citation[:46])
    Manuel Lagunas, Sandra Malpica, Ana Serrano, E
    >>> about("nights").checksum
    'first download'
    """
    if not isinstance(name, str) or name not in REGISTRY:
        raise wrong("name", name, f"one of {', '.join(NAMES)}")
    return REGISTRY[name]


_OSF = "https://osf.io/download"
_GITHUB = "https://raw.githubusercontent.com"
_THINGS_NAMES = Origin("https://osf.io/2y463", (Address(f"{_OSF}/2y463/"),))
_IMAGENET = "https://osf.io/cn2s3/ (val/obs/psiz0.4.1 and val/catalogs/psiz0.4.1)"
_LABROSA = "https://www.labrosa.org/projects/musicsim/musicseer.org/results"
_MATERIAL = "https://github.com/mlagunas/material-appearance-similarity"
_TUEBINGEN = "http://www.tml.cs.uni-tuebingen.de/team/luxburg/code_and_data"

#: Most addresses are those that cblearn's loaders use.
_TABLE = (
    About(
        name="cars",
        loader="load_cars",
        title="the most central of three cars",
        citation="Matthäus Kleindessner and Ulrike von Luxburg. Lens depth function and k-relative "
        "neighborhood graph: versatile tools for ordinal data analysis. Journal of Machine "
        "Learning Research 18(58):1-52, 2017.",
        license="Pictures: public domain (Wikimedia Commons). Statements: no license stated; "
        "cite the paper when publishing.",
        origins={
            "cars/": Origin(
                f"{_TUEBINGEN}/index.php (60_cars_data.zip)",
                (Address(f"{_TUEBINGEN}/60_cars_data.zip", "60_cars_data/{name}"),),
            )
        },
    ),
    About(
        name="things",
        loader="load_things_odd_one_out",
        title="the odd one out of three objects",
        citation="Martin N. Hebart, Charles Y. Zheng, Francisco Pereira and Chris I. Baker. "
        "Revealing the multidimensional mental representations of natural objects underlying "
        "human similarity judgments. Nature Human Behavior 4:1173-1185, 2020.",
        license="CC BY 4.0",
        origins={
            # No address is known that sends this very file: the projects hold the same kind of
            # file under other names, so it has to be put in place by hand.
            "things/test_10.txt": Origin(
                "the THINGS odd-one-out projects https://osf.io/z2784/ and https://osf.io/f5rn6/ "
                "(where it may have another name)"
            ),
            "things/data1854_batch5_test10.txt": Origin(
                "https://osf.io/z2784/ (data/data1854_batch5_test10.txt)",
                (Address(f"{_OSF}/sd3f7/"),),
            ),
            "things/unique_id.txt": _THINGS_NAMES,
        },
    ),
    About(
        name="things-data",
        loader="load_things_odd_one_out",
        title="the odd one out of three objects, all 4.7 million answers",
        citation="Martin N. Hebart, Oliver Contier, Lina Teichmann, Adam H. Rockter, Charles Y. "
        "Zheng, Alexis Kidder, Anna Corriveau, Maryam Vaziri-Pashkam and Chris I. Baker. "
        "THINGS-data, a multimodal collection of large-scale datasets for investigating object "
        "representations in human brain and behavior. eLife 12:e82580, 2023.",
        license="Stated at https://osf.io/f5rn6/, which could not be read when this was written.",
        origins={
            "things/triplets_large_final_correctednc_correctedorder.csv": Origin(
                "https://osf.io/f5rn6/ (data/triplet_dataset)", (Address(f"{_OSF}/h2smy/"),)
            ),
            "things/unique_id.txt": _THINGS_NAMES,
        },
    ),
    About(
        name="food",
        loader="load_food",
        title="which dishes taste alike",
        citation="Michael J. Wilber, Iljung S. Kwak and Serge J. Belongie. Cost-effective HITs for "
        "relative similarity comparisons. AAAI Conference on Human Computation and "
        "Crowdsourcing, 2014 (arXiv:1404.3291).",
        license="No license stated; the authors publish the pictures as educational fair use under "
        "the copyright law of the USA.",
        origins={
            # a copy: the authors' own server is gone
            "food/food100-dataset.zip": Origin(
                "https://osf.io/tqpmw/ (a copy; it was at "
                "https://vision.cornell.edu/se3/projects/cost-effective-hits/)",
                (Address(f"{_OSF}/6aa16bb1813a28b1e43f09bb/"),),
            )
        },
    ),
    About(
        name="material",
        loader="load_material",
        title="which materials look alike",
        citation="Manuel Lagunas, Sandra Malpica, Ana Serrano, Elena Garces, Diego Gutierrez and "
        "Belen Masia. A similarity measure for material appearance. ACM Transactions on Graphics "
        "38(4), 2019.",
        license="No license stated; cite the paper.",
        origins={
            "material/material-appearance-similarity.zip": Origin(
                _MATERIAL,
                (Address(f"{_MATERIAL}/archive/e5fccab94462f8b245e29818a31e83253369db6e.zip"),),
            )
        },
    ),
    About(
        name="musicians",
        loader="load_musicians",
        title="which musicians are alike",
        citation="Daniel P. W. Ellis, Brian Whitman, Adam Berenzweig and Steve Lawrence. The quest "
        "for ground truth in musical artist similarity. International Conference on Music "
        "Information Retrieval (ISMIR), 2002.",
        license="No license stated; give credit to the authors.",
        origins={
            "musicians/musicseer-results-2002-04-29.txt": Origin(
                f"{_LABROSA}/", (Address(f"{_LABROSA}/musicseer-results-2002-04-29.txt"),)
            ),
            # the list of names that comes with cblearn
            "musicians/musician_names.txt": Origin(
                "https://github.com/cblearn/cblearn (cblearn/datasets/data/musician_names.txt)",
                (
                    Address(
                        f"{_GITHUB}/cblearn/cblearn/09c1317c22038f486835384447a4b3ac727175e8/"
                        "cblearn/datasets/data/musician_names.txt"
                    ),
                ),
            ),
        },
    ),
    About(
        name="nights",
        loader="load_nights",
        title="which of two pictures looks more like a third",
        citation="Stephanie Fu, Netanel Tamir, Shobhita Sundaram, Lucy Chai, Richard Zhang, Tali "
        "Dekel and Phillip Isola. DreamSim: learning new dimensions of human visual similarity "
        "using synthetic data. Advances in Neural Information Processing Systems 36, 2023.",
        license="The authors' repository has an MIT license; none is stated for the data "
        "themselves.",
        origins={
            # a copy of the table: the authors' archive has 58 GB of pictures
            "nights/data.csv": Origin(
                "https://github.com/ssundaram21/dreamsim/tree/main/dataset (nights.zip)",
                (
                    Address(
                        "https://huggingface.co/datasets/saraghznfri/unisim_data/resolve/main/"
                        "nights/data.csv"
                    ),
                ),
            )
        },
    ),
    About(
        name="imagenet",
        loader="load_imagenet_similarity",
        title="pictures of ImageNet that look alike",
        citation="Brett D. Roads and Bradley C. Love. Enriching ImageNet with human similarity "
        "judgments and psychological embeddings. IEEE/CVF Conference on Computer Vision and "
        "Pattern Recognition, 2021.",
        license="CC BY 4.0 (the answers; ImageNet's pictures have their own terms)",
        origins={
            "imagenet/obs-118.hdf5": Origin(_IMAGENET, (Address(f"{_OSF}/ej6sz/"),)),
            "imagenet/obs-195.hdf5": Origin(_IMAGENET, (Address(f"{_OSF}/x6dht/"),)),
            "imagenet/catalog.hdf5": Origin(_IMAGENET, (Address(f"{_OSF}/bf3e2/"),)),
        },
    ),
    About(
        name="usps",
        loader="load_usps",
        title="handwritten digits",
        citation="Jonathan J. Hull. A database for handwritten text recognition research. IEEE "
        "Transactions on Pattern Analysis and Machine Intelligence 16(5):550-554, 1994.",
        license="No license stated; cite the paper when publishing.",
        origins={
            "usps/usps.h5": Origin(
                "https://www.kaggle.com/datasets/bistaumanga/usps-dataset",
                (
                    Address(
                        "https://www.kaggle.com/api/v1/datasets/download/bistaumanga/usps-dataset",
                        "{name}",
                    ),
                    Address(
                        f"{_GITHUB}/niuers/Learning-From-Data-A-Short-Course/"
                        "35684e893b63bf4039bafcc6d34fe935851baf9a/data/usps.h5"
                    ),
                ),
            )
        },
    ),
    About(
        name="ca-HepTh",
        loader="load_ca_hepth",
        title="who wrote papers with whom",
        citation="Jure Leskovec, Jon Kleinberg and Christos Faloutsos. Graph evolution: "
        "densification and shrinking diameters. ACM Transactions on Knowledge Discovery from Data "
        "1(1), 2007.",
        license="No license stated (Stanford Large Network Dataset Collection); cite the paper.",
        origins={
            "ca-HepTh/ca-HepTh.txt.gz": Origin(
                "https://snap.stanford.edu/data/ca-HepTh.html",
                (Address("https://snap.stanford.edu/data/ca-HepTh.txt.gz"),),
            )
        },
    ),
)
#: The data sets by name.
REGISTRY: Mapping[str, About] = MappingProxyType({one.name: one for one in _TABLE})
#: Those that `about` knows.
NAMES = tuple(REGISTRY)
