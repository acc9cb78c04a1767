"""The compiled solver behind the choice of an SVM's parameters.

Choosing C takes hundreds of fits of a few dozen objects, in each of which a general solver
spends nearly all its time outside the solving. Here one call solves for a whole grid of C, each
solution starting from the one before it, which stays feasible while C grows.
"""

from __future__ import annotations

import numpy as np

from trilens._compiled import compiled
from trilens._typing import FloatArray

#: The largest violation of the optimality conditions; the tolerance that SVMs are fitted with.
_TOLERANCE = 1e-3
#: For each C; reached only by features on wild scales, where any answer is a guess.
_MOST_STEPS = 1_000_000
_ROUNDING = 1e-9
_FLAT = 1e-12


@compiled()
def decision_path(
    kernel: FloatArray, side: FloatArray, asked: FloatArray, grid: FloatArray
) -> FloatArray:
    """Decision values of the SVM for every C of a grid, ascending; (g, m).

    ``kernel`` (n, n) is between the objects that it learns from, on either ``side``, 1.0 or -1.0;
    ``asked`` (m, n) between those that are asked about and these. Sequential minimal optimisation;
    the pair of each step is chosen by second-order information (Fan, Chen and Lin, JMLR 6, 2005).
    """
    n = len(side)
    found = np.empty((len(grid), len(asked)))
    weight = np.zeros(n)  # signed: the multiplier times the side
    slope = side.copy()  # side - kernel @ weight
    diagonal = np.diag(kernel).copy()
    for row in range(len(grid)):
        top, bottom = np.maximum(side * grid[row], 0.0), np.minimum(side * grid[row], 0.0)
        if row:
            # the best multiple of the solution before this one, within the new bounds
            gain, size = side @ weight, (side - slope) @ weight
            times = grid[row] / grid[row - 1]
            times = max(1.0, min(times, gain / size)) if size > 0 else times
            slope = side - times * (side - slope)
            weight *= times
            at_bound = np.abs(side * grid[row] - weight) < _ROUNDING * grid[row]
            weight = np.where(at_bound, side * grid[row], weight)
        high = low = 0.0
        for _ in range(_MOST_STEPS):
            # weight i may still rise, weight j may still fall
            i = -1
            high = -np.inf
            for t in range(n):
                if slope[t] > high and weight[t] < top[t]:
                    i, high = t, slope[t]
            j = -1
            low, most, curve = np.inf, 0.0, 1.0
            of_i = kernel[i]
            for t in range(n):
                if weight[t] > bottom[t]:
                    low = min(low, slope[t])
                    gap = high - slope[t]
                    if gap > 0:
                        bend = max(diagonal[i] + diagonal[t] - 2 * of_i[t], _FLAT)
                        if gap * gap > most * bend:
                            j, most, curve = t, gap * gap / bend, bend
            if high - low < _TOLERANCE:
                break
            up, down = top[i] - weight[i], weight[j] - bottom[j]
            step = min(up, down, (slope[i] - slope[j]) / curve)
            # a weight that reaches its bound is there exactly
            weight[i] = top[i] if step == up else weight[i] + step
            weight[j] = bottom[j] if step == down else weight[j] - step
            of_j = kernel[j]
            for t in range(n):
                slope[t] -= step * (of_i[t] - of_j[t])
        free = (weight > bottom) & (weight < top)
        bias = slope[free].mean() if free.any() else (high + low) / 2
        found[row] = asked @ weight + bias
    return found
