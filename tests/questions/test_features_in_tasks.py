"""Every question takes features, and uses the map that was fitted with them."""

from __future__ import annotations

import numpy as np
import pytest

import trilens as tl
from featured_study import featured, study


def test_the_medoid_is_that_of_the_map_with_features():
    _, F, S, _ = study()
    assert tl.medoid(S, features=F).to_dict() == tl.medoid(S, model=featured()).to_dict()


@pytest.mark.slow
def test_each_question_is_that_of_the_map_with_features():
    from trilens.questions.embed import embed

    _, F, S, _ = study()
    M = featured()
    assert tl.outliers(S, features=F).to_dict() == tl.outliers(S, model=M).to_dict()
    y = [0, 1] * 15
    assert tl.classify(S, y, features=F).to_dict() == tl.classify(S, y, model=M).to_dict()
    embedded = embed(S, M.n_components_, features=F)
    assert embedded.method == "choice"
    assert embedded.points.shape == M.embedding_.shape


@pytest.mark.slow
def test_the_analysis_takes_them_too():
    _, F, S, _ = study()
    assert tl.analyze(S, features=F).medoid.to_dict() == tl.medoid(S, model=featured()).to_dict()


def test_what_features_do_not_go_with():
    _, F, S, _ = study()
    for ask in (tl.medoid, tl.outliers, tl.cluster):
        with pytest.raises(tl.errors.ParameterError, match="features serve the choice map"):
            ask(S, method="lensmap", features=F)
        with pytest.raises(tl.errors.ParameterError, match="either features or a model"):
            ask(S, model=featured(), features=F)
        with pytest.raises(tl.errors.ParameterError, match="29 rows for 30 objects"):
            ask(S, features=np.asarray(F)[:29])
