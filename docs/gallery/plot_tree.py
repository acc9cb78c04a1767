"""
A tree
======

Branches that the answers support are coloured, with their support in per cent.
"""

import trilens as tl
from trilens.simulate import study

S = study(n_objects=30, n_statements=4000, careless=0.0, random_state=3).statements
H = tl.hierarchy(S)
print(H.sentence)
ax = tl.plots.tree(H)
