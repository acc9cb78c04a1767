"""A map by cblearn, for bench_rivals.py; runs with the interpreter of cblearn's environment.

    python rival_cblearn.py METHOD IN.npz OUT.npz

IN has `train` (similarity triplets: anchor, near, far), `inner` (which of them are held back for
the choice of the dimension), `dims` (candidates; one: no choice), `n_objects` and `seed`. OUT
gets `embedding`, `dim`, `fit_seconds` and `choice_seconds` (CPU).
"""

import sys
import time
import warnings

import numpy as np
import torch
from cblearn import embedding

warnings.simplefilter("ignore")
torch.set_num_threads(1)
#: LORE finds its dimension itself, from one that is too large.
LORE_FROM = 15


def fitted(method, dim, triplets, given):
    """An estimator with cblearn's defaults."""
    estimator = getattr(embedding, method)(n_components=dim, random_state=int(given["seed"]))
    return estimator.fit(triplets, n_objects=int(given["n_objects"]))


def right(X, triplets):
    anchor, near, far = X[triplets].transpose(1, 0, 2)
    return (((anchor - near) ** 2).sum(1) < ((anchor - far) ** 2).sum(1)).mean()


def main(method, given_file, out):
    given = np.load(given_file)
    train, inner = given["train"], given["inner"]
    dims = [LORE_FROM] if method == "LORE" else given["dims"].tolist()
    start = time.process_time()
    if len(dims) > 1:
        scores = [
            right(fitted(method, d, train[~inner], given).embedding_, train[inner]) for d in dims
        ]
        dims = [dims[int(np.argmax(scores))]]
    chosen = time.process_time()
    found = fitted(method, dims[0], train, given)
    done = time.process_time()
    np.savez(
        out,
        embedding=found.embedding_,
        dim=found.rank_ if method == "LORE" else dims[0],
        fit_seconds=done - chosen,
        choice_seconds=chosen - start,
    )


main(*sys.argv[1:])
