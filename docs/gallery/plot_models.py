"""
Models against people
=====================

How often three embeddings give the answers of people, between chance and what any model
could reach.
"""

import numpy as np

import trilens as tl
from trilens.simulate import ask_raters, draw_raters, gaussian

X = gaussian(15, random_state=0).points
people = draw_raters(20, careless=0.0, random_state=1)
S = ask_raters(X, people, 3000, sampling="replacement", random_state=2)
noise = np.random.default_rng(1).normal(size=X.shape)
models = {"true": X, "blurred": X + 0.5 * noise, "stretched": X * [1, 5]}
ax = tl.plots.models_against_ceiling(tl.evaluate(S, models))
