"""What hypothesis draws: statements with repeats, contradictions and objects never named."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trilens.statements import KINDS, Statements


@st.composite
def triples(draw, max_objects=8, max_statements=40, min_objects=3):
    n = draw(st.integers(min_objects, max_objects))
    one = st.permutations(range(n)).map(lambda order: order[:3])
    rows = draw(st.lists(one, max_size=max_statements))
    return np.array(rows, dtype=np.int32).reshape(-1, 3), n


@st.composite
def statements(draw, kinds=KINDS, **sizes):
    rows, n = draw(triples(**sizes))
    return Statements(rows, n_objects=n, kind=draw(st.sampled_from(kinds)))
