from __future__ import annotations

import sys

import numpy as np
import pytest

from trilens import ChoiceMap, Statements
from trilens.errors import DeviceError, MissingExtraError, ParameterError
from trilens.maps import device
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.simulate import gaussian, simulate_statements


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize(("length", "scale"), [("distance", 1), ("student", 1), ("distance", 300)])
def test_the_same_function_as_on_the_processor(kind, length, scale):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(12, 3))
    X[11] = X[10]  # where the distance has no slope
    triples = np.argsort(rng.random((400, 12)), axis=1)[:, :3]
    choices = collect_choices(Statements(triples, 12, kind=kind))
    shares = rng.uniform(0.05, 0.4, len(choices))
    with (
        likelihood(choices, length, 2.0) as host,
        likelihood(choices, length, 2.0, device="torch") as found,
    ):
        rows = np.arange(0, len(choices), 3)
        other = rng.random(len(choices))
        for here, there in (
            (host, found),
            (host.part(rows), found.part(rows)),
            (host.weighing(other), found.weighing(other)),
        ):
            for lapse in (np.array([0.1]), shares[: len(here.choices)]):
                expected, got = here(X, lapse), there(X, lapse)
                for a, b in zip(expected, got, strict=True):
                    np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
    assert found.on_device
    assert not host.on_device


def test_in_parts(monkeypatch):
    S = simulate_statements(gaussian(10, 2, random_state=0).points, 110, random_state=1)
    X = np.random.default_rng(2).normal(size=(10, 2))
    with likelihood(collect_choices(S), device="torch") as whole:
        expected = whole(X, np.array([0.2]))
        monkeypatch.setattr(device, "_CHUNK", 70)
        found = whole(X, np.array([0.2]))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)


@pytest.mark.parametrize("raters", [None, 5])
def test_the_same_map(raters):
    points = gaussian(15, 2, random_state=0).points
    S = simulate_statements(points, 455, kind="odd", error_rate=0.1, random_state=1)
    if raters:
        S = Statements(S.triples, S.n_objects, kind="odd", raters=np.arange(len(S)) % raters)
    given = {"n_components": 2, "l2": 0.5, "tol": 1e-8}
    one = ChoiceMap(**given).fit(S)
    other = ChoiceMap(**given, device="torch").fit(S)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-5)
    assert other.lapse_ == pytest.approx(one.lapse_, abs=0.002)
    np.testing.assert_allclose(other.predict_proba(S), one.predict_proba(S), atol=0.01)


def test_the_same_map_with_features():
    X = gaussian(15, 2, random_state=0).points
    S = simulate_statements(X, 455, kind="odd", error_rate=0.1, random_state=1)
    given = {"n_components": 2, "l2": 0.5, "tol": 1e-8, "feature_share": 0.5}
    one = ChoiceMap(**given).fit(S, features=X)
    other = ChoiceMap(**given, device="torch").fit(S, features=X)
    np.testing.assert_allclose(other.predict_proba(S), one.predict_proba(S), atol=0.01)


def test_without_a_gpu_or_without_pytorch(monkeypatch):
    import torch

    S = simulate_statements(gaussian(6, 2, random_state=0).points, 20, random_state=1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceError, match="finds no GPU here; leave device out"):
        ChoiceMap(device="cuda").fit(S)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(DeviceError, match="there are 1 GPUs"):
        ChoiceMap(device="cuda:3").fit(S)
    with pytest.raises(ParameterError, match="device is 'gpu'; it must be 'cpu', 'cuda'"):
        ChoiceMap(device="gpu").fit(S)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trilens\[torch\]'"):
        ChoiceMap(device="torch").fit(S)
    ChoiceMap(2, l2=1.0, device="cpu").fit(S)  # never asks for it


def test_what_does_not_fit(monkeypatch):
    import torch

    S = simulate_statements(gaussian(6, 2, random_state=0).points, 20, random_state=1)
    choices = collect_choices(S)
    with likelihood(choices, device="torch") as f:
        monkeypatch.setattr(f, "_lengths", lambda far: _full(torch))
        with pytest.raises(DeviceError, match="too little memory for"):
            f(np.zeros((6, 2)), np.array([0.1]))
    monkeypatch.setattr(device, "_MOST", 5)
    with pytest.raises(DeviceError, match="up to 5 objects"):
        ChoiceMap(2, l2=1.0, device="torch").fit(S)


def _full(torch):
    raise torch.OutOfMemoryError("full")
