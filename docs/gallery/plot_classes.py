"""
Two classes, and depth in each
==============================

An object lies deep in the class that it belongs to. This is the plane in which the paper's
Algorithm 3 classifies.
"""

import numpy as np

import trilens as tl
from trilens.simulate import mixture

points = mixture(80, [[-1.2, 0.0], [1.2, 0.0]], random_state=1)
S = tl.simulate_statements(points, 20_000, error_rate=0.1, random_state=2)
known = np.where(np.arange(80) % 2 == 0, points.labels, -1)
classifier = tl.LensDepthClassifier().fit(S, known)
ax = tl.plots.depth_against_depth(classifier.features_, known)
