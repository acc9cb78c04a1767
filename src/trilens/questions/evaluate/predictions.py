"""What a model answers to the questions of statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from trilens._parameters import real_array
from trilens._typing import FloatArray
from trilens.errors import DissimilarityError, ParameterError
from trilens.kinds import n_answers, sides, sign
from trilens.statements import Statements
from trilens.statements.combine import question_keys

Metric: TypeAlias = Literal["euclidean", "cosine", "dot"]
METRICS: tuple[Metric, ...] = get_args(Metric)

#: Statements whose distances are computed at a time.
_CHUNK = 1 << 16
#: A distance matrix may differ from its transpose by so much of its largest entry.
_SYMMETRIC = 1e-6
#: What a DataFrame's column of names may be called.
_OBJECT = ("object", "objects", "name")


@dataclass(frozen=True, eq=False)
class Predictions:
    """How a model rates the possible answers to the questions of statements."""

    #: (m, 3), for ``closer`` (m, 2): the higher, the better the answer; the given one first.
    scores: FloatArray
    #: Whether the scores are shares of the model's own answers rather than signed distances.
    shares: bool
    #: Whether the model's objects were matched by name, and not by their order.
    by_name: bool = True

    @property
    def right(self) -> FloatArray:
        """1 where the model gives the same answer; 1 / k where it is one of k equal ones.

        Where a model answered a question several times, the share of that answer.
        """
        if self.shares:
            return self.scores[:, 0]
        best = self.scores == self.scores.max(axis=1, keepdims=True)
        return np.asarray(best[:, 0] / best.sum(axis=1))


def by_embedding(statements: Statements, embedding: Any, metric: Metric) -> Predictions:
    """By the distances, or similarities, of vectors; see `evaluate`."""
    X, by_name = vectors_for(statements, embedding)
    if metric == "cosine":
        X = unit_vectors(statements, X)

    def distance(i: Any, j: Any) -> FloatArray:
        if metric == "euclidean":
            return np.asarray(np.sqrt(((X[i] - X[j]) ** 2).sum(axis=1)))
        return np.asarray(-(X[i] * X[j]).sum(axis=1))

    return Predictions(_scores(statements, distance), False, by_name)


def unit_vectors(statements: Statements, X: FloatArray) -> FloatArray:
    """Vectors of length 1; one that is 0 has no direction, and is refused if it is asked about."""
    size = np.sqrt((X**2).sum(axis=1))
    used = np.unique(statements.triples)
    zero = used[size[used] == 0]
    if len(zero):
        raise ParameterError(
            f"the vector of object {statements.names[zero[0]]!r} is zero, so it has no "
            f"direction ({len(zero):,} such objects); use another metric, or leave it out",
            parameter="embedding",
        )
    return np.asarray(X / np.where(size > 0, size, 1.0)[:, None])


def by_distances(statements: Statements, distances: Any) -> Predictions:
    """By a matrix of dissimilarities; see `evaluate`."""
    n = statements.n_objects
    by_name = _is_frame(distances) and not _unnamed(distances, statements.names)
    if by_name:
        distances = _aligned(statements, distances)
    D = real_array("distances", distances)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise DissimilarityError(
            f"the distances have shape {D.shape}; they must be a square matrix, {n} by {n}"
        )
    if len(D) != n:
        raise DissimilarityError(
            f"the distances are between {len(D):,} objects, but the statements are about {n:,}; "
            f"give a row and a column for each object, in the order of the statements' names"
        )
    used = np.unique(statements.triples)
    part = D[np.ix_(used, used)]

    def named(where: Any) -> tuple[str, str, float, float]:
        i, j = (used[k] for k in where)
        return statements.names[i], statements.names[j], D[i, j], D[j, i]

    if not np.isfinite(part).all():
        one, other, value, _ = named(np.argwhere(~np.isfinite(part))[0])
        raise DissimilarityError(
            f"the distance between {one!r} and {other!r} is {value}; distances must be finite: "
            f"fill it in, or leave the objects out"
        )
    size = max(float(np.abs(part).max(initial=0.0)), 1e-300)
    if part.min(initial=0.0) < -_SYMMETRIC * size:
        one, other, value, _ = named(np.unravel_index(part.argmin(), part.shape))
        raise DissimilarityError(
            f"the distance between {one!r} and {other!r} is {value:g}; distances must be 0 or "
            f"more: turn similarities into distances by subtracting each from the largest"
        )
    if len(part) and np.abs(part - part.T).max() > _SYMMETRIC * size:
        one, other, value, back = named(
            np.unravel_index(np.abs(part - part.T).argmax(), part.shape)
        )
        raise DissimilarityError(
            f"the distances are not symmetric: from {one!r} to {other!r} it is {value:g}, back it "
            f"is {back:g}; take the mean of both if that is what you want"
        )
    return Predictions(_scores(statements, lambda i, j: D[i, j]), False, by_name)


def by_answers(statements: Statements, answers: Any) -> Predictions:
    """By the model's own answers to the same questions; several to one question are shares."""
    if not isinstance(answers, Statements):
        answers = Statements(answers, statements.n_objects, statements._names, statements.kind)
    if answers.kind != statements.kind:
        raise ParameterError(
            f"the model's answers are of kind {answers.kind}, but the statements are of kind "
            f"{statements.kind}; ask the model the same question",
            parameter="answers",
        )
    seen = [answers.names[i] for i in np.unique(answers.triples)]
    if not any(name in statements.ids for name in seen):
        raise ParameterError(
            f"the model's answers are about other objects ({_few(seen)}) than the statements "
            f"({_few(statements.names)}); use the same names",
            parameter="answers",
        )
    new = np.array([statements.ids.get(name, -1) for name in answers.names], dtype=np.int64)
    triples = new[answers.triples]
    same = Statements(
        triples[(triples >= 0).all(axis=1)], statements.n_objects, kind=statements.kind
    )
    key, answer, _ = question_keys(same)
    asked_key, _, triple = question_keys(statements)
    known, number = np.unique(key, return_inverse=True)
    votes = np.bincount(number * 3 + answer, minlength=3 * len(known)).reshape(-1, 3)
    place = np.minimum(np.searchsorted(known, asked_key), max(len(known) - 1, 0))
    found = known[place] == asked_key if len(known) else np.zeros(len(asked_key), dtype=bool)
    if not found.all():
        missing = len(np.unique(asked_key[~found]))
        row = int(np.flatnonzero(~found)[0])
        names = ", ".join(statements.names[i] for i in triple[row])
        raise ParameterError(
            f"the model has no answer to {missing:,} of {len(np.unique(asked_key)):,} questions, "
            f"such as ({names}); let it answer these too, or use only the statements it answered",
            parameter="answers",
        )
    share = votes[place] / votes[place].sum(axis=1, keepdims=True)
    first = 3 - n_answers(statements.kind)  # an anchor is no answer
    answers_at = statements.triples[:, first:, None] == triple[:, None]
    scores = np.take_along_axis(share, answers_at.argmax(axis=2) - first, axis=1)
    return Predictions(scores, True)


def vectors_for(statements: Statements, embedding: Any) -> tuple[FloatArray, bool]:
    """The vector of each object, (n, d), and whether they were matched by name.

    Zeros for objects that no statement names.
    """
    names, used = statements.names, np.unique(statements.triples)
    if _is_frame(embedding):
        embedding = _vectors_of_frame(embedding, names)
    by_name = isinstance(embedding, Mapping)
    if by_name:
        given = {str(name): vector for name, vector in embedding.items()}
        if len(given) < len(embedding):
            _no_twice("the embedding", [str(name) for name in embedding])
        missing = [names[i] for i in used if names[i] not in given]
        if len(missing) == len(used):
            raise ParameterError(
                f"the embedding has none of the objects: it has {_few(list(given))}, but the "
                f"statements are about {_few(names)}; use the same names",
                parameter="embedding",
            )
        if missing:
            raise ParameterError(
                f"the embedding lacks {len(missing):,} of {len(used):,} objects: "
                f"{_few(missing)}; add them, or leave out the statements about them "
                f"(S.subset of the others)",
                parameter="embedding",
            )
        first = real_array("embedding", next(iter(given.values())))
        X = np.zeros((len(names), first.size))
        for i in used:
            vector = real_array(f"the vector of {names[i]!r}", given[names[i]]).ravel()
            if vector.size != first.size:
                raise ParameterError(
                    f"the vector of {names[i]!r} has {vector.size} numbers, others have "
                    f"{first.size}; all must have the same length",
                    parameter="embedding",
                )
            X[i] = vector
    else:
        X = real_array("embedding", embedding)
        X = X[:, None] if X.ndim == 1 else X
        _refuse_distances(X)
        if X.ndim != 2 or len(X) != len(names):
            raise ParameterError(
                f"the embedding has shape {X.shape}; it must have a row for each of the "
                f"{len(names):,} objects, in the order of the statements' names, or give a dict "
                f"from name to vector",
                parameter="embedding",
            )
    bad = used[~np.isfinite(X[used]).all(axis=1)]
    if len(bad):
        raise ParameterError(
            f"the vector of object {names[bad[0]]!r} has NaN or infinite numbers "
            f"({len(bad):,} such objects); fill them in, or leave these objects out",
            parameter="embedding",
        )
    return X, by_name


def _refuse_distances(X: FloatArray) -> None:
    """A matrix of distances is no list of vectors, though it could be read as one."""
    if X.ndim != 2 or not X.shape[0] == X.shape[1] > 2 or not X.any():
        return
    rounding = _SYMMETRIC * np.abs(X).max()
    unlike = np.abs(X - X.T).max(), np.abs(X.diagonal()).max(), -X.min()
    if max(unlike) <= rounding:
        raise ParameterError(
            "the embedding is a matrix of distances (square, symmetric, 0 on the diagonal); give "
            "it as distances=",
            parameter="embedding",
        )


def _is_frame(given: Any) -> bool:
    return hasattr(given, "columns") and hasattr(given, "to_numpy")


def _unnamed(frame: Any, names: Sequence[str]) -> bool:
    """Whether rows and columns of a frame are merely numbered, as by `DataFrame(array)`."""
    counted = [str(i) for i in range(len(names))]
    axes = [[str(x) for x in getattr(frame, "index", counted)], [str(x) for x in frame.columns]]
    return axes == [counted, counted] and not set(counted) & set(names)


def _aligned(statements: Statements, frame: Any) -> FloatArray:
    """The distances of a DataFrame in the order of the objects."""
    if not hasattr(frame, "index"):
        raise DissimilarityError(
            "the distances have names for their columns but not for their rows; give a matrix "
            "in the order of the statements' names, or a pandas DataFrame with both"
        )
    names = statements.names
    place = []
    for axis, labels in (("rows", frame.index), ("columns", frame.columns)):
        listed = [str(label) for label in labels]
        _no_twice(f"the {axis} of the distances", listed)
        at = {label: i for i, label in enumerate(listed)}
        missing = [name for name in names if name not in at]
        if missing:
            raise DissimilarityError(
                f"the {axis} of the distances lack {len(missing):,} of {len(names):,} objects: "
                f"{_few(missing)}; they have {_few(listed)}: use the same names"
            )
        place.append([at[name] for name in names])
    return real_array("distances", frame.to_numpy()[np.ix_(*place)])


def _vectors_of_frame(frame: Any, names: Sequence[str]) -> Any:
    """A dict from name to vector, or the rows where the frame merely numbers them."""
    called = next((c for c in frame.columns if str(c).strip().casefold() in _OBJECT), None)
    if called is not None:
        listed = [str(name) for name in frame[called]]
        rows = frame[[c for c in frame.columns if c != called]].to_numpy()
    elif hasattr(frame, "index"):
        listed, rows = [str(name) for name in frame.index], frame.to_numpy()
        columns = [str(name) for name in frame.columns]
        if sorted(columns) == sorted(listed) and len(set(listed)) == len(listed):
            _refuse_distances(real_array("embedding", rows)[:, [columns.index(x) for x in listed]])
        counted = listed == [str(i) for i in range(len(listed))]
        if counted and len(listed) == len(names) and not set(listed) & set(names):
            return rows
    else:
        return frame.to_numpy()
    _no_twice("the embedding", listed)
    return dict(zip(listed, rows, strict=True))


def _no_twice(what: str, listed: list[str]) -> None:
    seen: set[str] = set()
    for name in listed:
        if name in seen:
            raise ParameterError(f"{what}: object {name!r} appears twice; give it once")
        seen.add(name)


def _scores(statements: Statements, distance: Any) -> FloatArray:
    """What speaks for each answer, by the lengths of sides."""
    kind = statements.kind
    out = np.empty((len(statements), n_answers(kind)))
    for start in range(0, len(statements), _CHUNK):
        part = slice(start, start + _CHUNK)
        compared = sides(kind, statements.triples[part])
        out[part] = sign(kind) * np.stack([distance(i, j) for i, j in compared], axis=1)
    return out


def _few(names: Sequence[str], most: int = 5) -> str:
    listed = ", ".join(repr(name) for name in names[:most])
    return listed if len(names) <= most else f"{listed}, ... ({len(names):,})"
