"""
People who see different things
===============================

Half of these raters judge by the first two properties of the objects, the others by the last two.
"""

import numpy as np

import trilens as tl
from trilens.simulate import ask_raters, draw_raters, gaussian

points = gaussian(20, 4, random_state=0).points
people = draw_raters(10, careless=0.0, random_state=1)
one = ask_raters(points[:, :2], people, 3000, sampling="replacement", random_state=2)
two = ask_raters(points[:, 2:], people, 3000, sampling="replacement", random_state=3)
S = tl.Statements(
    np.concatenate([one.triples, two.triples]),
    raters=[f"a{r}" for r in one.raters] + [f"b{r}" for r in two.raters],
    kind="central",
)
found = tl.individuals(S)
print(found.sentences()[0])
ax = tl.plots.rater_map(found)

# %%
# Where the two groups see each object. A line joins the two places of an
# object, and is colored where they differ beyond chance.
compared = tl.compare_groups(S, [str(rater)[0] for rater in S.raters])
ax = tl.plots.group_maps(compared)
