"""The choice model's likelihood on a GPU, by PyTorch.

Every pair of objects is measured once, in one table on the device; answers only look up the odds
of their sides there and add to the slope of each. It is the same function as on the processor, in
the same double precision, so that the fit around it need not know where it is evaluated.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from trilens._parameters import wrong
from trilens._typing import FloatArray, IntArray
from trilens.errors import DeviceError, MissingExtraError
from trilens.kinds import sides
from trilens.maps.likelihood import LEAST, Choices, Likelihood, mixture
from trilens.maps.pairs import ODDS_RANGE, pair_code

#: Answers whose probabilities are formed at a time.
_CHUNK = 1 << 24
#: Objects whose pairs fit into a table: 3 GB, and a few times that at the most.
_MOST = 20_000
_ALLOWED = "'cpu', 'cuda', 'cuda:0' and so on, or 'torch' for PyTorch on the processor"


def is_on_device(device: Any) -> bool:
    """Whether a fit asks for PyTorch; the name is checked, PyTorch is not loaded.

    >>> [is_on_device(device) for device in (None, "cpu", "torch", "cuda:1")]
    [False, False, True, True]
    """
    if device is None or (isinstance(device, str) and device == "cpu"):
        return False
    if not isinstance(device, str) or not re.fullmatch(r"torch|cuda(:\d+)?", device):
        raise wrong("ChoiceMap: device", device, _ALLOWED)
    return True


def open_device(device: str) -> Any:
    """PyTorch's device, or one line that says why there is none."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(f"device={device!r}", "torch") from error
    if device == "torch":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(
            f"device={device!r}: PyTorch {torch.__version__} finds no GPU here; leave device out "
            f"for the fit on the processor"
        )
    found, many = torch.device(device), torch.cuda.device_count()
    if found.index is not None and found.index >= many:
        raise DeviceError(f"device={device!r}: there are {many} GPUs, counted from 0")
    return found


class DeviceLikelihood(Likelihood):
    """Answers on a device, prepared for many evaluations.

    Parameters
    ----------
    choices : Choices
    device : torch.device
        From `open_device`.
    """

    on_device = True

    def __init__(self, choices: Choices, device: Any) -> None:
        import torch

        n = choices.n_objects
        if n > _MOST:
            raise DeviceError(
                f"a GPU takes up to {_MOST:,} objects, because all their pairs are in its memory; "
                f"there are {n:,}: leave device out for the fit on the processor"
            )
        self.choices, self.weight, self._device, self._torch = (
            choices,
            choices.weight,
            device,
            torch,
        )
        codes = np.stack([pair_code(i, j, n) for i, j in sides(choices.kind, choices.triples)])
        self._sides = torch.as_tensor(codes, device=device)

    def part(self, rows: IntArray) -> Likelihood:
        choices = replace(
            self.choices, triples=self.choices.triples[rows], weight=self.weight[rows], row=None
        )
        return DeviceLikelihood(choices, self._device).measuring(self.length, self.alpha)

    def weighing(self, weight: FloatArray) -> DeviceLikelihood:
        other = super().weighing(weight)
        other._held = None
        return other

    #: The weights on the device, once they are there.
    _held: Any = None

    def __call__(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        try:
            return self._evaluate(X, lapse)
        except self._torch.OutOfMemoryError as error:
            raise DeviceError(
                f"the GPU has too little memory for {len(self.choices):,} different answers about "
                f"{len(X):,} objects; leave device out for the fit on the processor"
            ) from error

    def _evaluate(self, X: FloatArray, lapse: FloatArray) -> tuple[float, FloatArray, float]:
        torch = self._torch
        if self._held is None:
            self._held = self._tensor(self.weight)
        x, shares = self._tensor(X), self._tensor(lapse)
        far = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
        v, slope = self._lengths(far)
        u = self.sign * v.ravel()
        wide = bool(u.max() - u.min() > ODDS_RANGE)
        odds = u if wide else (u - u.max()).exp_()
        pulls = torch.zeros_like(u)
        loss = torch.zeros((), dtype=torch.float64, device=self._device)
        of_lapse = loss.clone()
        for start in range(0, len(self.choices), _CHUNK):
            part = slice(start, start + _CHUNK)
            codes, weight = self._sides[:, part], self._held[part]
            W = odds[codes]
            if wide:
                W = (W - W.amax(dim=0)).exp_()
            W /= W.sum(dim=0)
            share = shares if len(shares) == 1 else shares[part]
            P, in_lapse, pull = mixture(W[0].clamp(min=LEAST), 1.0, share, 1.0 / len(W))
            loss -= (weight * P.log()).sum()
            of_lapse += (weight * in_lapse).sum()
            W[0] -= 1.0
            W *= weight * pull
            pulls.index_add_(0, codes.ravel(), W.ravel())
        table = pulls.view(len(x), len(x)) * (2.0 * self.sign * slope)
        table = table + table.T
        gradient = table.sum(dim=1, keepdim=True) * x - table @ x
        return float(loss), gradient.cpu().numpy(), float(of_lapse)

    def _tensor(self, values: FloatArray) -> Any:
        return self._torch.as_tensor(
            np.ascontiguousarray(values), dtype=self._torch.float64, device=self._device
        )

    def _lengths(self, far: Any) -> tuple[Any, Any]:
        """The lengths of pairs, and their slopes in the squared distances; as `pairs.lengths`."""
        if self.length == "distance":
            return far, self._torch.where(far > 0, 0.5 / far, 0.0)
        squares, half = far * far, 0.5 * (self.alpha + 1.0)
        return half * (squares / self.alpha).log1p(), half / (self.alpha + squares)
