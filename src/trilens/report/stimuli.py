"""Pictures for the built-in study: a family of shapes with three hidden dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import FloatArray
from trilens.errors import ParameterError

_SIZE = 160
_LOBES = 6
#: From the cold to the warm end of the third dimension: red, green, blue.
_COLD = np.array([28.0, 84.0, 148.0])
_MIDDLE = np.array([46.0, 160.0, 140.0])
_WARM = np.array([238.0, 150.0, 40.0])


def shape_svg(point: ArrayLike) -> str:
    """One shape: how round, how elongated and how warm it is, each about between 0 and 1.

    Dimensions that are missing count as 1/2, further ones are ignored. Values outside are drawn
    as well: beyond 1 a round shape opens into a ring.

    >>> shape_svg([0.9, 0.2, 0.4]).startswith("<svg xmlns=")
    True
    """
    given = np.asarray(point, dtype=np.float64).ravel()[:3]
    if not np.isfinite(given).all():
        raise ParameterError(f"a shape's coordinates are finite numbers, not {given.tolist()}")
    roundness, elongation, warmth = np.clip(np.append(given, [0.5] * (3 - len(given))), -1.0, 2.0)
    outline = _outline(roundness, elongation, 1.0)
    if roundness > 1:
        # the hole runs the other way round, so that it stays empty
        outline += _outline(roundness, elongation, 0.9 * (roundness - 1))
    fill, rim = _colour(warmth), _colour(warmth, darker=0.62)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" '
        f'width="{_SIZE}" height="{_SIZE}">'
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#f7f5f0"/>'
        f'<path fill="{fill}" fill-rule="evenodd" stroke="{rim}" stroke-width="2.5" '
        f'stroke-linejoin="round" d="{outline}"/></svg>\n'
    )


def draw_stimuli(points: ArrayLike, folder: str | Path, names: Sequence[str]) -> list[Path]:
    """Draw every object as an SVG file, one for each name, for ``--images``.

    Parameters
    ----------
    points : (n, d) array
        Roundness, elongation and colour of each.
    folder
        Made if it is missing.
    names : (n,) sequence of str

    Returns
    -------
    list of Path
    """
    X = np.asarray(points, dtype=np.float64)
    if X.ndim != 2:
        raise ParameterError(f"points are an (n, d) array, not one of shape {X.shape}")
    if len(names) != len(X):
        raise ParameterError(f"there are {len(names)} names for {len(X)} points")
    wrong = next((name for name in names if Path(name).name != name), None)
    if wrong is not None:
        raise ParameterError(f"{wrong!r} cannot be the name of a picture's file")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{name}.svg" for name in names]
    for path, point in zip(paths, X, strict=True):
        path.write_text(shape_svg(point), encoding="utf-8")
    return paths


def _outline(roundness: float, elongation: float, scale: float) -> str:
    angle = np.linspace(0, 2 * np.pi, 144, endpoint=False)
    depth = 0.55 * max(0.0, 1.0 - roundness)
    radius = (1 + depth * np.cos(_LOBES * angle)) / (1 + depth)
    stretch = 2.0 ** (0.75 * elongation)
    x, y = radius * np.cos(angle) * stretch, radius * np.sin(angle) / stretch
    # the longer half-axis of the most elongated shape just fits
    unit = 0.46 * _SIZE / max(2.0**0.75, stretch, 1 / stretch) * scale
    tilt = np.deg2rad(-24)
    across = _SIZE / 2 + unit * (x * np.cos(tilt) - y * np.sin(tilt))
    down = _SIZE / 2 + unit * (x * np.sin(tilt) + y * np.cos(tilt))
    return "M" + "L".join(f"{u:.1f} {v:.1f}" for u, v in zip(across, down, strict=True)) + "Z"


def _colour(warmth: float, darker: float = 1.0) -> str:
    if warmth < 0.5:
        mixed: FloatArray = _COLD + (_MIDDLE - _COLD) * 2 * max(warmth, 0.0)
    else:
        mixed = _MIDDLE + (_WARM - _MIDDLE) * (2 * min(warmth, 1.0) - 1)
    # outside the scale the colour fades: darker below, paler above
    mixed = mixed * (1 + 0.6 * min(warmth, 0.0))
    mixed = mixed + (255 - mixed) * 0.65 * max(warmth - 1, 0.0)
    red, green, blue = np.clip(mixed * darker, 0, 255).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
