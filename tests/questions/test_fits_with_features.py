"""A fit with features answers every question with the map that was fitted with them."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from featured_study import featured, study
from trilens.questions.embed import embed


def test_questions_take_the_map_with_features():
    _, F, S, _ = study()
    fitted, M = tl.fit(S, features=F), featured()
    np.testing.assert_array_equal(fitted.map.X, M.embedding_)
    embedded = embed(fitted, M.n_components_)
    np.testing.assert_array_equal(embedded.points, M.embedding_)
    y = [0, 1] * 15
    found = tl.classify(fitted, y)
    assert found.to_dict() == tl.classify(M, y).to_dict()
    assert found.labels.tolist() == tl.MapClassifier().fit(S, y, features=F).transduction_.tolist()


def test_what_features_do_not_go_with():
    _, F, S, _ = study()
    with pytest.raises(tl.errors.ParameterError, match="features are for the choice map"):
        tl.MapClassifier(map="lensmap").fit(S, [0, 1] * 15, features=F)
    with pytest.raises(tl.errors.ParameterError, match="a fit has its own features"):
        tl.MapClassifier().fit(featured().fit_, [0, 1] * 15, features=F)
    with pytest.raises(tl.errors.ParameterError, match="29 rows for 30 objects"):
        tl.MapClassifier().fit(S, [0, 1] * 15, features=np.asarray(F)[:29])
