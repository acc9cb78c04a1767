"""What `trilens.reference` does not state: counts, other kinds, exact lenses, the choice model.

Plain loops over statements and objects; every fast path must equal these.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np


def count_central(triples, n, kind="central"):
    """N and D of Algorithm 1: as the singled-out object, and at all.

    Of a similarity triplet the near and the far object are compared, not the anchor.
    """
    singled, appears = np.zeros(n, int), np.zeros(n, int)
    for statement in triples:
        compared = statement[1:] if kind == "closer" else statement
        singled[compared[0]] += 1
        for x in compared:
            appears[x] += 1
    return singled, appears


def centrality(triples, n, kind="central"):
    """LD of Algorithm 1; for odd statements 1 - P(odd); for closer ones P(nearer).

    0 for objects never seen.
    """
    singled, appears = count_central(triples, n, kind)
    share = singled / np.maximum(appears, 1)
    return np.where(appears > 0, 1 - share, 0.0) if kind == "odd" else share


def count_pairs(triples, n, kind="central"):
    """N and D of Algorithm 5 for every pair, for the three kinds of statements.

    A central or odd statement compares its three pairs, and singles out the third object of
    the pair of the others. A similarity triplet compares the anchor's two pairs, and singles
    out the farther object, which is third to the pair of the anchor and the near one.
    """
    third, appears = np.zeros((n, n), int), np.zeros((n, n), int)
    for a, b, c in triples:
        if kind == "closer":
            compared, singled = [(a, b), (a, c)], (a, b)
        else:
            compared, singled = [(a, b), (a, c), (b, c)], (b, c)
        for x, y in compared:
            appears[x, y] += 1
            appears[y, x] += 1
        x, y = singled
        third[x, y] += 1
        third[y, x] += 1
    return third, appears


def count_classes(triples, y, n_classes):
    """N_Ci(O) and D_Ci(O) of Algorithm 3; y holds 0..K-1, or -1 for unlabeled."""
    n = len(y)
    singled, appears = np.zeros((n, n_classes), int), np.zeros((n, n_classes), int)
    for statement in triples:
        for x in statement:
            u, v = (z for z in statement if z != x)
            if y[u] == y[v] and y[u] >= 0:
                appears[x, y[u]] += 1
                if statement[0] == x:
                    singled[x, y[u]] += 1
    return singled, appears


def count_labelled_pairs(triples, labelled, n):
    """N(x, l) and D(x, l) of Algorithm 4 for every object x and labeled l, third one labeled.

    Columns follow the order of ``labelled``, a list of ids.
    """
    column = {x: j for j, x in enumerate(labelled)}
    third, appears = np.zeros((n, len(labelled)), int), np.zeros((n, len(labelled)), int)
    for statement in triples:
        for x, label, other in itertools.permutations(statement):
            if label in column and other in column:
                appears[x, column[label]] += 1
                if statement[0] == other:
                    third[x, column[label]] += 1
    return third, appears


def in_lens(D, x, i, j):
    """Whether x lies in Lens(i, j): strict inequalities, on the given numbers."""
    return D[x, i] < D[i, j] and D[x, j] < D[i, j]


def lens_counts(D):
    """For every pair the number of objects in its lens; the diagonal is 0."""
    n = len(D)
    counts = np.zeros((n, n), int)
    for i, j in itertools.permutations(range(n), 2):
        counts[i, j] = sum(in_lens(D, x, i, j) for x in range(n))
    return counts


def exact_lens_depth(D):
    """LD(x; D): the number of pairs i < j whose lens holds x."""
    return exact_local_lens_depth(D, np.inf)


def exact_local_lens_depth(D, tau):
    """Eq. (23), counted: the pairs i < j with d(i, j) <= tau whose lens holds x."""
    n = len(D)
    near = [(i, j) for i, j in itertools.combinations(range(n), 2) if D[i, j] <= tau]
    return np.array([sum(in_lens(D, x, i, j) for i, j in near) for x in range(n)], dtype=int)


def exact_k_rng(D, k):
    """The true k-RNG: fewer than k objects in the lens."""
    n = len(D)
    edges = lens_counts(D) < k
    edges[np.arange(n), np.arange(n)] = False
    return edges


def most_central(D, a, b, c):
    """The most central of three, or None where no side is strictly the longest."""
    for x, y, z in ((a, b, c), (b, a, c), (c, a, b)):
        if D[x, y] < D[y, z] and D[x, z] < D[y, z]:
            return x
    return None


def odd_one(D, a, b, c):
    """The odd one of three, or None where no side is strictly the shortest."""
    for x, y, z in ((a, b, c), (b, a, c), (c, a, b)):
        if D[x, y] > D[y, z] and D[x, z] > D[y, z]:
            return x
    return None


def purity(clusters, classes):
    """Purity of a clustering (the paper's eq. for it)."""
    clusters, classes = np.asarray(clusters), np.asarray(classes)
    total = 0
    for cluster in set(clusters.tolist()):
        members = classes[clusters == cluster].tolist()
        total += max(members.count(label) for label in set(members))
    return total / len(classes)


def krng_votes(triples, codes, n_classes, k, x, error_rate=0, alone="nearest"):
    """Algorithm 4 for one unlabeled x: the votes for each class, and how they came about.

    Compared without rounding; ``alone`` is what an empty vote becomes.
    """
    labelled = [i for i in range(len(codes)) if codes[i] >= 0]
    third, appears = count_labelled_pairs(triples, labelled, len(codes))
    e = Fraction(str(error_rate))
    V = [Fraction(int(N), int(D)) if D else None for N, D in zip(third[x], appears[x], strict=True)]
    others = len(labelled) - 1
    near = [
        j
        for j, v in enumerate(V)
        if v is not None and (v - e / 2) / (1 - 3 * e / 2) * others < Fraction(k)
    ]
    how = "neighbours"
    if not near and alone == "random":
        return [0] * n_classes, "random"
    if not near:
        known = [v for v in V if v is not None]
        how = "nearest" if known else "unknown"
        least = min(known) if known else None
        near = [j for j, v in enumerate(V) if v == least]
    votes = [0] * n_classes
    for j in near:
        votes[codes[labelled[j]]] += 1
    return votes, how


def leave_one_out_error(triples, codes, n_classes, k, error_rate=0, alone="nearest"):
    """Algorithm 4 with each labeled object unlabeled in turn; a tie counts by its chance."""
    errors = []
    for x in range(len(codes)):
        if codes[x] < 0:
            continue
        without = list(codes)
        without[x] = -1
        votes, _ = krng_votes(triples, without, n_classes, k, x, error_rate, alone)
        best = [c for c in range(n_classes) if votes[c] == max(votes)]
        errors.append(1 - (1 / len(best) if codes[x] in best else 0))
    return sum(errors) / len(errors)


def answer_probabilities(X, lapse, triple, kind, length=lambda d: d):
    """The choice model: the probability of each answer to a question, the given one first."""
    a, b, c = triple
    sides = [(a, b), (a, c)] if kind == "closer" else [(b, c), (a, c), (a, b)]
    sign = 1 if kind == "central" else -1
    odds = [np.exp(sign * length(float(np.linalg.norm(X[i] - X[j])))) for i, j in sides]
    return [(1 - lapse) * w / sum(odds) + lapse / len(odds) for w in odds]


def model_depth(X, kind):
    """The depth that attentive answers to all questions would give."""
    n = len(X)
    total, count = np.zeros(n), np.zeros(n)
    for a, b, c in itertools.permutations(range(n), 3):
        chance = answer_probabilities(X, 0.0, (a, b, c), kind)[0]
        # closer: b wins against c at the anchor a; else: a is singled out among three
        x = b if kind == "closer" else a
        total[x] += chance
        count[x] += 1
    share = total / count
    return 1 - share if kind == "odd" else share
