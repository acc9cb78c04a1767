"""
How central each object is
==========================

The depth of an object is the share of its questions in which it was the most central. Its
interval says how sure that is. The objects on the left are the candidates for outliers.
"""

import trilens as tl
from trilens.simulate import study

S = study().statements
found = tl.depth_intervals(S)
ax = tl.plots.sorted_depths(
    found.depth, low=found.low, high=found.high, n_outliers=4, names=S.names
)

# %%
# Was every object asked about often enough?
ax = tl.plots.appearances(tl.count_central(S).appears)
