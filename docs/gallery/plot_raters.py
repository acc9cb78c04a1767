"""
How good the answers are
========================

Whose answers look like guesses, and what the best possible model could predict.
"""

import trilens as tl
from trilens.simulate import ask_raters, draw_raters, gaussian

raters = draw_raters(20, careless=0.2, random_state=1)
S = ask_raters(gaussian(15, random_state=0), raters, 3000, sampling="replacement", random_state=2)
R = tl.reliability(S)
ax = tl.plots.rater_intervals(R)

# %%
# From chance to the ceiling.
ax = tl.plots.ceiling_bar(R)
