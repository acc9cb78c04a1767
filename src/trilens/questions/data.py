"""What a question is given: statements in memory, counts of them, or files too large to hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from trilens._typing import IntArray, Progress
from trilens.answers import Answers, read_or_count
from trilens.counts import CentralCounts, Counted, PairCounts
from trilens.errors import FormatError, ParameterError, option
from trilens.maps.likelihood import object_order, row_order
from trilens.statements import Statements, StatementsLike, as_statements
from trilens.statements.names import CheckedNames, ObjectList

if TYPE_CHECKING:
    from trilens.maps.streamed import StreamedMap
    from trilens.questions.method import Question

#: What every question takes; each says which counts suffice.
Data: TypeAlias = Answers | StatementsLike | Counted | CentralCounts | PairCounts

#: The methods that a map by passes over files serves.
MAPS_OF_FILES = ("auto", "choice", "lensmap")
#: Up to so many objects all pairs are counted.
PAIRED_OBJECTS = 4096


def statements_of(data: Data, question: str) -> Statements:
    """The statements themselves, read where they lie in files."""
    if isinstance(data, Answers):
        if data.in_counts:
            raise FormatError(
                f"{data.source} holds counts; {question} needs the statements that were counted"
            )
        return data.read()
    if isinstance(data, Counted | CentralCounts | PairCounts):
        raise ParameterError(f"{question} needs the statements, not counts of them")
    return as_statements(data)


def counts_of(
    data: Data, suffice: bool, *, pairs: bool = False, progress: Progress | None = None
) -> Counted | None:
    """What was counted, or is to be counted of large files; None: read them.

    Parameters
    ----------
    suffice
        Whether counts would do for large files. What was counted already is counts anyway.
    pairs
        Whether the counts of pairs are wanted.
    """
    if isinstance(data, Counted):
        return data.with_names()
    if not isinstance(data, Answers):
        return None
    if not (suffice or data.in_counts):
        return None
    found = read_or_count(data, enough=True, pairs=pairs, progress=progress)
    return found.with_names() if isinstance(found, Counted) else None


def object_counts(
    data: Data, suffice: bool, progress: Progress | None = None
) -> CentralCounts | None:
    """The counts per object, where `counts_of` has them."""
    if isinstance(data, CentralCounts):
        return data
    found = counts_of(data, suffice, progress=progress)
    return None if found is None else found.central


def pair_counts(data: Data, suffice: bool, progress: Progress | None = None) -> PairCounts | None:
    """The counts of pairs, where `counts_of` has them."""
    if isinstance(data, PairCounts):
        return data
    found = counts_of(data, suffice, pairs=True, progress=progress)
    if found is None:
        return None
    if found.pairs is None:
        raise ParameterError(
            f"there are no counts of pairs; count the statements with {option('pairs', True)}"
        )
    return found.pairs


def objects_of(counts: Counted | CentralCounts | PairCounts) -> ObjectList:
    """The objects that were counted."""
    return ObjectList(
        None if counts.names is None else CheckedNames(counts.names), counts.n_objects
    )


@dataclass(frozen=True, eq=False)
class Ordered:
    """Statements and their objects in an order that does not depend on how they were given.

    Random numbers are drawn in this order, so that the same answers say the same.

    Attributes
    ----------
    statements : Statements
    order : (n,) int64
        The given id of each object.
    """

    statements: Statements
    order: IntArray

    @cached_property
    def rank(self) -> IntArray:
        """The place of each given object in this order, (n,) int64."""
        return np.argsort(self.order)


def in_order(statements: Statements) -> Ordered:
    """Objects by their names; statements by their objects, and by raters where known.

    >>> found = in_order(Statements([[1, 2, 0], [0, 1, 2]], names=["c", "b", "a"]))
    >>> found.statements.names, found.statements.triples.tolist()
    (('a', 'b', 'c'), [[2, 1, 0], [1, 0, 2]])
    """
    order = object_order(statements._names, statements.n_objects)
    if (np.diff(order) != 1).any():
        statements = statements.subset(order)
    rows = row_order(statements)
    if (np.diff(rows) != 1).any():
        statements = statements.take(rows)
    return Ordered(statements, order)


def is_streamed(data: Data, *, most_objects: int = 0) -> TypeGuard[Answers]:
    """Whether a map is to be made by passes over files; of more than ``most_objects``."""
    if not isinstance(data, Answers) or not data.streamed:
        return False
    return not most_objects or data.count().n_objects > most_objects


def streamed_map(
    given: Answers | Statements,
    n_components: int | None,
    method: str,
    seed: int,
    progress: Progress | None = None,
) -> StreamedMap:
    """The map by passes over files, or over very many statements."""
    from trilens.maps.streamed import stream_map

    if isinstance(given, Answers):
        return stream_map(given, n_components, method=method, random_state=seed, progress=progress)
    ordered = in_order(given)
    found = stream_map(
        ordered.statements, n_components, method=method, random_state=seed, progress=progress
    )
    return found.among(given.names, ordered.rank)


def model_of_many(
    data: Data,
    question: Question,
    model: Any,
    seed: int,
    progress: Progress | None = None,
    *,
    n_components: int | None = None,
    most_objects: int = 0,
) -> StreamedMap | None:
    """The streamed map that answers a question about very much data; None where another does.

    It does where files are too large to hold, and where statements are too many, or about too
    many objects, for the model of `trilens.questions.model`; with ``most_objects`` only beyond so
    many. Too few answers for each object are counted.
    """
    from trilens.maps.streamed import StreamedMap
    from trilens.questions.method import is_for_passes

    if model is not None:
        return model if isinstance(model, StreamedMap) else None
    many: Answers | Statements
    if is_streamed(data):
        counts = data.count(progress=progress)
        n, m = counts.n_objects, counts.statements
        if n <= most_objects or not is_for_passes(n, m, large=True):
            return None
        many = data
    elif isinstance(data, Statements) or (isinstance(data, Answers) and data.held):
        if isinstance(data, Answers) and data.in_counts:
            return None
        many = statements_of(data, question)
        if many.n_objects <= most_objects or not is_for_passes(many.n_objects, len(many)):
            return None
    else:
        return None
    return streamed_map(many, n_components, "choice", seed, progress)
