"""
A tree
======

Branches that the answers support are colored, with their support in per cent.
"""

import trilens as tl
from trilens.simulate import mixture

means = [[0, 0], [0, 3], [9, 0], [9, 4]]
points = mixture(32, means, [[[0.2, 0], [0, 0.2]]] * 4, random_state=1)
S = tl.simulate_statements(points, 4000, error_rate=0.1, random_state=2)
H = tl.hierarchy(S)
print(H.sentence)
ax = tl.plots.tree(H)
