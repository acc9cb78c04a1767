"""
Points and distances
====================

Where distances are known, lens depth and the k-relative neighborhood graph need no answers.
Depth is highest between the moons: it describes the whole, not the neighborhood.
"""

import numpy as np

import trilens as tl
from trilens.simulate import two_moons

moons = two_moons(150, noise=0.06, random_state=0).points
side = np.linspace(-1.5, 2.5, 60)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
depth = tl.LensDepth().fit(moons).score_samples(grid).reshape(60, 60)
ax = tl.plots.depth_heat_map(depth, (-1.5, 2.5, -1.5, 2.5), points=moons)

# %%
# Neighbors have few points in their lens.
ax = tl.plots.graph_drawing(moons, tl.exact.k_rng(moons, 5, metric="euclidean"))
