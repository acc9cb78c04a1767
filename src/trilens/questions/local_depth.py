"""Local lens depth from statements: with a map that says which pairs are near."""

from __future__ import annotations

import numpy as np

from trilens._parameters import one_of, real_number
from trilens._typing import FloatArray, RandomState
from trilens.ask import Data, fit_of, is_enough, opened, statements_of
from trilens.maps.fitted import Fit
from trilens.maps.likelihood import in_own_order
from trilens.maps.registry import MAPS, coordinates, dimensions


def local_depth(
    answers: Data, share: float = 0.1, *, method: str = "auto", random_state: RandomState = 0
) -> FloatArray:
    """How crowded it is around each object: local lens depth (the paper's eq. 23).

    Answers do not tell which pairs are near (the paper's Section 7): a lens may be empty because
    its pair is near, or because it lies where nothing is. A map tells.

    Parameters
    ----------
    answers : Fit, path, Answers, Statements, a table or (m, 3) array
    share : float
        The share of all pairs that count as near, from 0 to 1.
    method : str
        The map: ``"auto"`` as for `trilens.outliers`, or a name. The lens map draws objects far
        out to the rim and the middle, and serves badly here.
    random_state : int, Generator or None
        Of the map.

    Returns
    -------
    (n_objects,) array
        Shares of the pairs of other objects; low where an object stands by itself.

    Examples
    --------
    >>> from trilens import lens_depth
    >>> from trilens.simulate import mixture, simulate_statements, with_outliers
    >>> between = with_outliers(mixture(40, [[0, 0], [9, 0]], random_state=1), [[4.5, 0]])
    >>> S = simulate_statements(between, random_state=2)
    >>> bool(lens_depth(S)[40] > 1 / 3), float(local_depth(S, 0.2, method="ste")[40])
    (True, 0.0)
    """
    data = opened(answers)
    given = statements_of(data, "local depth")
    one_of("method", method, ("auto", *MAPS))
    real_number("share", share, 0, 1)
    n = given.n_objects
    if n < 3:
        return np.zeros(n)
    if method == "auto" and (isinstance(data, Fit) or is_enough(given)):
        method = "choice"
    if method == "choice":
        points = fit_of(data, "local depth", random_state).map.X
    else:
        ordered, rank = in_own_order(given)
        name = "lensmap" if method == "auto" else method
        points = coordinates(ordered, name, dimensions(None, n), random_state)[rank]
    from trilens.exact import local_lens_depth

    return np.asarray(local_lens_depth(points, share=share, metric="euclidean", normalise=True))
