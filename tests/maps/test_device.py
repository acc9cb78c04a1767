"""The fit on a device: the code that CuPy runs on a GPU, run by numpy; and what is said without."""

from __future__ import annotations

import sys
from unittest.mock import MagicMock

import numpy as np
import pytest

from trilens import ChoiceMap, Statements
from trilens.errors import DeviceError, MissingExtraError, ParameterError
from trilens.maps import likelihood as module, pairs
from trilens.maps.device import Device
from trilens.maps.likelihood import collect_choices, likelihood
from trilens.simulate import gaussian, simulate_statements


@pytest.mark.parametrize("kind", ["central", "odd", "closer"])
@pytest.mark.parametrize(
    ("length", "scale"),
    [("distance", 1e-3), ("distance", 1), ("student", 1), ("distance", 40), ("distance", 300)],
)
def test_the_same_function_as_the_compiled_one(kind, length, scale):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(12, 3))
    X[11] = X[10]  # where the distance has no slope
    triples = np.argsort(rng.random((400, 12)), axis=1)[:, :3]
    choices = collect_choices(Statements(triples, 12, kind=kind))
    rows, other = np.arange(0, len(choices), 3), rng.random(len(choices))
    shares = rng.uniform(0.05, 0.4, len(choices))
    with (
        likelihood(choices, length, 2.0, compiled=True) as host,
        likelihood(choices, length, 2.0, device="numpy") as found,
    ):
        for here, there in (
            (host, found),
            (host.part(rows), found.part(rows)),
            (host.weighing(other), found.weighing(other)),
        ):
            assert there.on_device
            assert not here.on_device
            for lapse in (np.array([0.1]), np.array([1e-9]), shares[: len(here.choices)]):
                expected, got = here(X, lapse), there(X, lapse)
                for a, b in zip(expected, got, strict=True):
                    np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9 * (1 + np.abs(a).max()))
                H = here.information(X, lapse)
                np.testing.assert_allclose(there.information(X, lapse), H, rtol=1e-7, atol=1e-7)


def test_slopes_stay_in_their_order():
    codes = np.array([1, 2, 7, 14, 19])  # 0-1, 0-2, 1-2, 2-4, 3-4 of five objects
    found, _ = pairs.number_pairs([codes], 5)
    assert pairs.ArrayRuler(found, Device())._slopes.has_canonical_format


def test_in_parts(monkeypatch):
    S = simulate_statements(gaussian(10, 2, random_state=0).points, 110, random_state=1)
    X = np.random.default_rng(2).normal(size=(10, 2))
    with likelihood(collect_choices(S), device="numpy") as whole:
        expected = whole(X, np.array([0.2]))
        monkeypatch.setattr(module, "_CHUNK", 70)
        monkeypatch.setattr(pairs, "_AT_ONCE", 30)
        found = whole(X, np.array([0.2]))
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)


@pytest.mark.parametrize("beside", ["", "raters", "features"])
def test_the_same_map(beside):
    points = gaussian(15, 2, random_state=0).points
    S = simulate_statements(points, 455, kind="odd", error_rate=0.1, random_state=1)
    given = {"n_components": 2, "l2": 0.5, "tol": 1e-8, "feature_share": 0.5}
    if beside == "raters":
        S = Statements(S.triples, S.n_objects, kind="odd", raters=np.arange(len(S)) % 5)
    features = points if beside == "features" else None
    one = ChoiceMap(**given).fit(S, features=features)
    other = ChoiceMap(**given, device="numpy").fit(S, features=features)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-5)
    assert other.lapse_ == pytest.approx(one.lapse_, abs=0.002)
    np.testing.assert_allclose(other.predict_proba(S), one.predict_proba(S), atol=0.01)


def cupy(count):
    """CuPy on a machine with so many GPUs, as far as it is asked before arrays are made."""
    found = MagicMock()
    found.cuda.runtime.CUDARuntimeError = RuntimeError
    found.cuda.runtime.getDeviceCount.return_value = count
    return found


def test_without_a_gpu_or_without_cupy(monkeypatch):
    S = simulate_statements(gaussian(6, 2, random_state=0).points, 20, random_state=1)
    monkeypatch.setitem(sys.modules, "cupy", cupy(0))
    with pytest.raises(DeviceError, match="finds no GPU; use device='cpu'"):
        ChoiceMap(device="cuda").fit(S)
    monkeypatch.setitem(sys.modules, "cupy", cupy(1))
    with pytest.raises(DeviceError, match="no GPU 'cuda:3': this machine has 1 GPU, which is"):
        ChoiceMap(device="cuda:3").fit(S)
    with pytest.raises(ParameterError, match="device is 'gpu'; it must be 'cpu', 'cuda'"):
        ChoiceMap(device="gpu").fit(S)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"'cuda:1' needs .* pip install 'trilens\[gpu\]'"):
        ChoiceMap(device="cuda:1").fit(S)
    ChoiceMap(2, l2=1.0, device="cpu").fit(S)  # never asks for it


def test_a_gpu_that_fails():
    gpu = Device(cupy(2), 1)
    full = pytest.raises(DeviceError, match="out of memory with 5 answers; use device='cpu'")
    with full, gpu.working("5 answers"):
        raise MemoryError
    gpu.xp.cuda.Device.assert_called_once_with(1)
    lost = pytest.raises(DeviceError, match=r"^the GPU failed \(is lost\); use device='cpu'$")
    with lost, gpu.working("5 answers"):
        raise RuntimeError("is\nlost")
