"""What to cite: the works whose methods an analysis used, as text and as BibTeX."""

from __future__ import annotations

from trilens.report.words import Facts

_KLEINDESSNER = (
    "Matthäus Kleindessner and Ulrike von Luxburg. Lens depth function and k-relative neighborhood "
    "graph: versatile tools for ordinal data analysis. Journal of Machine Learning Research "
    "18(58):1-52, 2017.",
    """@article{kleindessner2017lens,
  author  = {Kleindessner, Matth{\\"a}us and von Luxburg, Ulrike},
  title   = {Lens Depth Function and k-Relative Neighborhood Graph:
             Versatile Tools for Ordinal Data Analysis},
  journal = {Journal of Machine Learning Research},
  volume  = {18}, number = {58}, pages = {1--52}, year = {2017}
}""",
)
_HEIKINHEIMO = (
    "Hannes Heikinheimo and Antti Ukkonen. The crowd-median algorithm. AAAI Conference on Human "
    "Computation and Crowdsourcing (HCOMP), 2013.",
    """@inproceedings{heikinheimo2013crowd,
  author    = {Heikinheimo, Hannes and Ukkonen, Antti},
  title     = {The Crowd-Median Algorithm},
  booktitle = {AAAI Conference on Human Computation and Crowdsourcing (HCOMP)},
  year      = {2013}
}""",
)
_SHI = (
    "Jianbo Shi and Jitendra Malik. Normalized cuts and image segmentation. IEEE Transactions on "
    "Pattern Analysis and Machine Intelligence 22(8):888-905, 2000.",
    """@article{shi2000normalized,
  author  = {Shi, Jianbo and Malik, Jitendra},
  title   = {Normalized Cuts and Image Segmentation},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {22}, number = {8}, pages = {888--905}, year = {2000}
}""",
)
_HENNIG = (
    "Christian Hennig. Cluster-wise assessment of cluster stability. Computational Statistics and "
    "Data Analysis 52(1):258-271, 2007.",
    """@article{hennig2007cluster,
  author  = {Hennig, Christian},
  title   = {Cluster-Wise Assessment of Cluster Stability},
  journal = {Computational Statistics \\& Data Analysis},
  volume  = {52}, number = {1}, pages = {258--271}, year = {2007}
}""",
)


def citations(facts: Facts) -> list[tuple[str, str, str]]:
    """What each work was used for, its text and its BibTeX: of the methods that were used."""
    version = facts["how"]["version"]
    found = [
        (
            "This analysis, with the choice map",
            f"trilens {version}: learning from ordinal data. Software.",
            f"@software{{trilens,\n  title   = {{trilens: learning from ordinal data}},\n"
            f"  author  = {{{{The trilens authors}}}},\n  version = {{{version}}}\n}}",
        )
    ]
    used = {facts[part]["method"] for part in ("medoid", "outliers", "cluster")}
    used |= {facts["classify"]["method"]} if facts["classify"] else set()
    if facts["kind"] == "central" or used & {"krng", "lensmap"}:
        found.append(("Lens depth", *_KLEINDESSNER))
    if facts["kind"] == "odd" and facts["medoid"]["method"] != "choice":
        found.append(("Centrality of odd ones", *_HEIKINHEIMO))
    if facts["cluster"]["n_clusters"] > 1:
        found.append(("Groups", *_SHI))
        if facts["cluster"]["resamples"]:
            found.append(("Stability of groups", *_HENNIG))
    return found
