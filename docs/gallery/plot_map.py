"""
A map of the objects, and its groups
====================================

Objects that the answers put close together lie close together. The axes have no meaning
of their own.
"""

import trilens as tl
from trilens.simulate import study

S = study().statements
places = tl.ChoiceMap(n_components=2).fit(S).embedding_
groups = tl.cluster(S)
print(groups.n_clusters, "groups")
ax = tl.plots.object_map(places, groups=[f"group {g + 1}" for g in groups.labels], names=S.names)
