"""Answers, wherever they lie: one handle for files, folders, addresses and tables in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from trilens._typing import AnyArray, Progress
from trilens.counts.central import CentralCounts, count_central, is_path
from trilens.counts.counted import Counted, counted
from trilens.counts.counting import CountReport, count_files
from trilens.counts.file import is_counts, read_counts
from trilens.counts.pairs import PairCounts, count_pairs
from trilens.errors import (
    AssumedKindWarning,
    FormatError,
    KindError,
    ParameterError,
    StatementError,
    TrilensError,
    callers_level,
    option,
)
from trilens.files.objects import ObjectsLike, ObjectTable, object_list, read_object_table
from trilens.files.read import (
    Scan,
    open_table,
    read_files,
    reading_options,
    scan_statements,
    write_faults,
)
from trilens.files.side_tables import QuestionsLike
from trilens.files.source import PathLike, file_paths, is_url, size_of, sources
from trilens.kinds import Kind
from trilens.statements import Selection, Statements, StatementsLike, as_statements, select
from trilens.statements.batch import Checks
from trilens.statements.columns import as_list, is_table
from trilens.statements.frames import bare_rows, frame_table
from trilens.statements.layout import ColumnsLike
from trilens.statements.names import ObjectList
from trilens.statements.reading import Reading, ReadTables, assumed_kind, read_tables
from trilens.statements.selection import Condition
from trilens.statements.table import REPEAT, AnswerTable

#: Files from so many bytes on are not held in memory, but read as often as a question needs. None:
#: those that would need more than `HELD_SHARE` of the memory that is available.
STREAMED_BYTES: int | None = None
HELD_SHARE = 0.25
#: Files from so many bytes on are counted where counts are enough, however much memory there is.
COUNTED_BYTES = 1 << 24
#: How files are to be read: parameters of `read_statements`.
_READING = (
    "kind", "columns", "objects", "preset", "header", "counts_from", "encoding",
    "rater_from_name", "questions", "reason_random", "skip_bad",
)  # fmt: skip
#: What columns say that counts do not keep: who answered, on which screen, and why it was asked.
_NOT_IN_COUNTS = {"rater", "question", "reason"}
#: What reading takes at most, by the bytes of a file (measured: 6 for CSV, 12 for Parquet; what is
#: compressed whole may be much larger than it looks).
_EXPANDS = {".parquet": 12, ".arrow": 12, ".feather": 12, ".npz": 12}
_COMPRESSED, _PLAIN = 30, 8
_ENDINGS_OF_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".lz4")
#: Of fewer objects it is not asked whether their counts fit in memory.
_VAST, _BYTES_OF_COUNTS = 10_000_000, 24
#: Where the machine does not say what it has.
_USUAL_MEMORY = 4 << 30


class Answers:
    """Answers that are read when they are needed, and no further than they are.

    Every question takes such a handle: ``tl.medoid(tl.Answers("answers.csv"))``. Small files
    are read once and held; large ones are counted and mapped as they are read.

    Parameters
    ----------
    source : path, folder, pattern, URL, list of these, or a table
        A table is a pandas, polars or Arrow one, or anything that `Statements` takes. A file of
        counts (`write_counts`) serves those questions that counts can answer.
    kind, columns, objects, preset, header
        As in `read_statements`, and so are those that follow.
    counts_from, encoding, rater_from_name, questions, reason_random, skip_bad
    where : list of str
        Use only the answers for which all these conditions hold, such as ``"country = DE"``.
        Objects that only other answers name stay; of Parquet files that are counted they are left
        out, unless ``objects`` lists them.
    exclude_raters : str or list of str
        Leave out these raters (rounds, where no raters are known).
    min_seconds : float, optional
        Leave out answers that were faster.
    min_checks : float, optional
        Leave out raters who answered a smaller share of their catch questions rightly; these
        are questions in which an object is shown twice.
    cluster : str or Dask client, optional
        Where the files are counted and mapped: ``"local:N"`` for N processes of this machine,
        ``"tcp://host:8786"`` for a Dask scheduler. The files are then not held in memory here.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = file.write_text("central,other_1,other_2,country\\na,b,c,DE\\nb,a,c,FR\\n")
    >>> answers = Answers(file, where=["country = DE"])
    >>> answers.read().names, len(answers.read()), answers.count().statements
    (('a', 'b', 'c'), 1, 1)
    >>> answers.column("country").tolist()
    ['DE']
    """

    def __init__(
        self,
        source: Any,
        kind: Kind | None = None,
        columns: ColumnsLike | None = None,
        objects: ObjectsLike | None = None,
        *,
        preset: str | None = None,
        header: bool | None = None,
        counts_from: int | None = None,
        encoding: str | None = None,
        rater_from_name: bool = False,
        questions: QuestionsLike | None = None,
        reason_random: Sequence[str] | str = (),
        skip_bad: bool | PathLike = False,
        where: Sequence[str] | str = (),
        exclude_raters: Sequence[Any] | str = (),
        min_seconds: float | None = None,
        min_checks: float | None = None,
        cluster: Any = None,
    ) -> None:
        self.source, self.cluster = source, cluster
        self.kind, self.columns, self.objects = kind, columns, objects
        self.preset, self.header, self.counts_from = preset, header, counts_from
        self.encoding, self.skip_bad = encoding, skip_bad
        self.rater_from_name, self.questions = rater_from_name, questions
        self.reason_random = reason_random
        self.where = (where,) if isinstance(where, str) else tuple(as_list(where, "where"))
        if isinstance(exclude_raters, str):
            exclude_raters = (exclude_raters,)
        self.exclude_raters = tuple(as_list(exclude_raters, "exclude_raters"))
        self.min_seconds, self.min_checks = min_seconds, min_checks
        #: The fit of these answers, where one was made or read: questions ask it.
        self.fitted: Any = None
        #: Whether a kind that is assumed was compared with the others.
        self.kind_judged = False
        self._statements: Statements | None = None
        self._found: ReadTables | None = None
        self._selection: Selection | None = None
        self._counted: Counted | None = None
        self._counted_all: Counted | None = None
        self._last_counted: Counted | None = None
        if cluster is not None and not self.in_files:
            raise ParameterError(
                "only files are counted on a cluster; these answers are in memory",
                parameter="cluster",
            )

    @classmethod
    def read_before(cls, statements: Statements, reading: Reading) -> Answers:
        """Statements, with what was understood of the files that they were once read from."""
        found = cls(statements)
        found._found = ReadTables(statements, {}, reading)
        return found

    def __repr__(self) -> str:
        shown = self.source if self.in_files else type(self.source).__name__
        return f"Answers({shown!r})"

    @property
    def in_files(self) -> bool:
        """Whether the answers lie in files."""
        return is_path(self.source)

    @cached_property
    def in_counts(self) -> bool:
        """Whether only counts of the answers are there, in a file of counts."""
        return isinstance(self.source, str | os.PathLike) and is_counts(self.source)

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of all files; 0 in memory, and for what can be read only once."""
        return sum(size for _, size in self._sizes)

    @cached_property
    def _sizes(self) -> list[tuple[str, int]]:
        """Every file and its bytes."""
        if not self.in_files or self.source == "-":
            return []
        try:
            paths = [os.fspath(path) for path in file_paths(self.source)]
            return [
                (path, size_of(path) if is_url(path) else os.stat(path).st_size) for path in paths
            ]
        except (TrilensError, OSError, ValueError):
            return []  # reading it says what is wrong

    @property
    def _fits(self) -> bool:
        """Whether there is room to read the files whole."""
        if STREAMED_BYTES is not None:
            return self.n_bytes < STREAMED_BYTES
        needed = sum(size * _expansion(path) for path, size in self._sizes)
        return needed <= HELD_SHARE * available_memory()

    @property
    def selects(self) -> bool:
        """Whether some of the answers are left out."""
        return bool(self.where or self._by_rater)

    @property
    def _by_rater(self) -> bool:
        """Whether it depends on who answered, or how fast, which answers are used."""
        return bool(self.exclude_raters) or (self.min_seconds, self.min_checks) != (None, None)

    @property
    def checks(self) -> Checks | None:
        """The answers to catch questions, which show an object twice; None where none was."""
        reading = self.reading
        return None if reading is None else reading.checks

    @property
    def held(self) -> bool:
        """Whether the answers are held in memory; otherwise they are counted as they are read."""
        if self._statements is not None or not self.in_files or self.in_counts:
            return True
        return self._read_whole or (self.cluster is None and self._fits)

    @property
    def _read_whole(self) -> bool:
        """Whether only a whole reading finds the answers that are wanted, or all the bad rows."""
        by_place = any(Condition.of(text).column.casefold() == "place" for text in self.where)
        return self._by_rater or by_place or not isinstance(self.skip_bad, bool)

    @property
    def countable(self) -> bool:
        """Whether these are large files of which counts lose nothing that a share depends on."""
        if self._statements is not None or not self.in_files or self.in_counts:
            return False
        if self.n_bytes < COUNTED_BYTES or self._read_whole or self.rater_from_name:
            return False
        return _NOT_IN_COUNTS.isdisjoint(self._first_table.layout.others)

    @property
    def streamed(self) -> bool:
        """Whether a map of the answers is made by passes over the files, whose objects it has."""
        return not self.held and self.objects is None

    @property
    def options(self) -> dict[str, Any]:
        """How the files are to be read: what the functions that read files take."""
        return {name: getattr(self, name) for name in _READING}

    @property
    def n_statements(self) -> int:
        """How many answers are used."""
        if self.held and not self.in_counts and not self.countable:
            return len(self.read())
        return self.count_all().statements

    @cached_property
    def everything(self) -> Answers:
        """The same answers, none left out; itself where all are used."""
        if not self.selects:
            return self
        return Answers(self.source, **self.options, cluster=self.cluster)

    @property
    def with_repeats(self) -> Answers:
        """With the questions that a survey repeated on purpose, which tell of the raters alone.

        Itself where there are none.
        """
        reading = None if self.in_counts or self._once else self.reading
        if reading is None or REPEAT not in reading.set_aside:
            return self
        return Answers(
            self.source,
            **(self.options | {"preset": "survey", "skip_bad": bool(self.skip_bad)}),
            where=self.where,
            exclude_raters=self.exclude_raters,
            min_seconds=self.min_seconds,
            min_checks=self.min_checks,
        )

    @property
    def reading(self) -> Reading | None:
        """What was understood of the files or the table; None for what were statements already."""
        self.read()
        found = self.everything._found
        return None if found is None else found.reading

    @cached_property
    def object_table(self) -> ObjectTable | None:
        """What ``objects`` tells about the objects; None where it lists names alone."""
        given = self.objects
        if given is None or isinstance(given, list | tuple | ObjectList):
            return None
        return read_object_table(given)

    @cached_property
    def kind_assumed(self) -> bool:
        """Whether neither the caller nor the data say which question was asked."""
        found = self.everything._found
        if found is not None:
            return not found.reading.kind_told
        if not self.in_files or self.in_counts or self._once or self.kind is not None:
            return False
        table = self._first_table
        return table.kind is None and table.options.kind is None

    @property
    def _first_table(self) -> AnswerTable:
        """The first of the files, of which it is known what its columns hold."""
        how = self.options | {"kind": None, "counts_from": None, "skip_bad": False}
        options = reading_options(**how)
        first = sources(file_paths(self.source)[0], encoding=self.encoding)[0]
        return open_table(first, options)

    def judge_kind(self, why: str, fits: Kind | None) -> None:
        """Say of a kind that is assumed why another one fits the answers, if one does."""
        self.kind_judged = True
        found = self.everything._found
        if fits is not None and found is not None:
            reading = replace(found.reading, doubt=why, fits=fits)
            self.everything._found = replace(found, reading=reading)
            reading.warn()

    @property
    def known(self) -> Reading | Counted | None:
        """What has been found out so far, without reading any further.

        What was understood of the files, where these were read; else their last counts, where
        they were counted.
        """
        found = self.everything._found
        return self._last_counted if found is None else found.reading

    @property
    def selection(self) -> Selection | None:
        """Which answers were left out and why; None where all are used."""
        self.read()
        return self._selection

    def read(self) -> Statements:
        """The answers that are asked for; read once."""
        if self._statements is None:
            if not self.selects:
                self._statements = self._loaded()[0]
                return self._statements
            conditions = map(Condition.of, self.where)
            beyond = [condition.column for condition in conditions if not condition.is_own]
            every, extra = self.everything._loaded(beyond)
            found = self.everything._found
            self._selection = select(
                every,
                exclude_raters=self.exclude_raters,
                min_seconds=self.min_seconds,
                min_checks=self.min_checks,
                where=self.where,
                columns=extra,
                checks=None if found is None else found.reading.checks,
            )
            self._statements = self._selection.of(every)
        return self._statements

    @property
    def statements(self) -> Statements:
        """As `read`: whatever takes statements takes their handle too."""
        return self.read()

    def scan(self, chunk_rows: int = 1_000_000) -> Scan:
        """The answers in chunks, for what does not fit in memory."""
        if not self.in_files:
            raise ParameterError("a table in memory is not scanned; read() gives its statements")
        if self._by_rater:
            raise ParameterError(
                "scan() takes where=; exclude_raters=, min_seconds= and min_checks= go with read()"
            )
        if not isinstance(self.skip_bad, bool):
            raise ParameterError("skip_bad must be True or False where answers are scanned")
        return scan_statements(self.source, chunk_rows, where=self.where, **self.options)

    def count(
        self,
        *,
        pairs: bool = False,
        labels: Mapping[str, str] | None = None,
        n_threads: int | None = None,
        cluster: Any = None,
        checkpoint: PathLike | None = None,
        progress: Progress | None = None,
        tell: Callable[[CountReport], None] | None = None,
    ) -> Counted:
        """The counts of the answers, without holding them.

        The memory needed is that of the counters and of a few pieces of the files.

        Parameters
        ----------
        pairs : bool
            Whether to count pairs too: for the graph, clusters and the lens map. Files are then
            read twice.
        labels : dict by name, optional
            The classes of objects; the counts of Algorithm 3 are then counted too.
        n_threads : int, optional
            Of this process, where there is no cluster; by default one per core.
        cluster : str or Dask client, optional
            ``"local:N"``: N processes of this machine. ``"tcp://host:8786"``: a Dask scheduler.
            By default that of these answers.
        checkpoint : path or URL, optional
            A folder that keeps the counts of each finished file, or part of a large Parquet
            file: a second run counts only what is missing. Workers must see the same folder.
        progress : callable, optional
            Called with the share of the bytes that are counted.
        tell : callable, optional
            Called with a `CountReport` at the end.

        Returns
        -------
        Counted
            The same, bit for bit, whatever the threads, the cluster and the checkpoints.
        """
        if self.in_counts:
            return self._stored_counts(pairs)
        if not self.in_files or self._by_rater:
            return counted(self.read().at_random(), pairs=pairs, labels=labels)
        plain, every = not pairs and labels is None, self._counted_all
        if self._counted is None and every is not None and not every.chosen:
            self._counted = every
        if plain and self._counted is not None:
            return self._counted
        found = self._count_files(
            pairs=pairs,
            labels=labels,
            n_threads=n_threads,
            cluster=self.cluster if cluster is None else cluster,
            checkpoint=checkpoint,
            first=self._counted,
            progress=progress,
            tell=tell,
        )
        if plain:
            self._counted = found
        return found

    def count_all(
        self, *, n_threads: int | None = None, progress: Progress | None = None
    ) -> Counted:
        """The counts of all answers, of which a map is made; no shares are made of these.

        `count` leaves out those to questions that earlier answers chose.
        """
        if self.in_counts or not self.in_files or self._by_rater:
            return self._stored_counts(False) if self.in_counts else counted(self.read())
        if self._counted_all is None:
            known = self._counted
            if known is None or known.chosen:
                how = {"n_threads": n_threads, "cluster": self.cluster, "progress": progress}
                known = self._count_files(chosen=True, **how)
            self._counted_all = known
        return self._counted_all

    def _count_files(self, **how: Any) -> Counted:
        told = self._last_counted is not None
        options = self.options | {"skip_bad": bool(self.skip_bad)}
        found = count_files(self.source, where=self.where, **how, **options)
        self._last_counted = found
        if self.kind_assumed and not told:
            text = str(TrilensError(f"{self.source}: {assumed_kind(found.kind)}"))
            warnings.warn(text, AssumedKindWarning, stacklevel=callers_level())
        return found

    def column(self, name: str) -> AnyArray:
        """A column beyond those that statements have, as text, for the answers that are used."""
        values = self.everything._loaded([name])[1][name]
        chosen = self.selection
        return values if chosen is None else values[chosen.kept]

    def _loaded(self, extra: Sequence[str] = ()) -> tuple[Statements, dict[str, AnyArray]]:
        """All answers and these columns of them, read once; again only for further columns."""
        if not self.in_files and (not is_table(self.source) or self._bare):
            if extra:
                raise ParameterError(
                    f"column {extra[0]!r}: only files and tables have further columns"
                )
            given = self._given()
            refuse_vast(given)
            return given, {}
        known = {} if self._found is None else self._found.extra
        further = [name for name in extra if name not in known]
        if self._found is None or further:
            if self._found is not None and self._once:
                raise FormatError(
                    f"{self.source}: column {further[0]!r} cannot be read any more, since it can "
                    f"be read only once; give a file"
                )
            self._found = self._read_with(list(dict.fromkeys([*known, *further])))
        return self._found.statements, self._found.extra

    @property
    def _bare(self) -> bool:
        """Whether a table is an array, of which nobody says what its columns hold."""
        unsaid = (self.columns, self.objects, self.preset, self.header, self.counts_from)
        return all(one is None for one in unsaid) and bare_rows(self.source) is not None

    def _given(self) -> Statements:
        """What were statements already, or rows of them, with what is told of these."""
        named = object_list(self.objects)
        if isinstance(self.source, Statements) or hasattr(self.source, "statements"):
            held = as_statements(self.source)
            if self.kind not in (None, held.kind):
                raise KindError(
                    f"the statements are of kind {held.kind}, but {option('kind', self.kind)} was "
                    f"asked for; leave the kind out"
                )
            if named is not None and named.names != held.names:
                raise ParameterError(
                    "the statements have names already; leave objects= out", parameter="objects"
                )
            return held
        if named is None:
            return as_statements(self.source, self.kind)
        kind = self.kind or as_statements(self.source).kind
        return Statements(self.source, names=named.names, kind=kind)

    def _read_with(self, extra: Sequence[str]) -> ReadTables:
        options = reading_options(**self.options)
        if self.in_files:
            found = read_files(self.source, options, extra)
        else:
            found = read_tables([frame_table(self.source, options)], extra)
        if self._found is None:
            found.reading.warn()
        if not isinstance(self.skip_bad, bool):
            write_faults(found.reading.faults, self.skip_bad)
        return found

    @property
    def _once(self) -> bool:
        """Whether the source can be read only once: the standard input, or a pipe."""
        if not isinstance(self.source, str | os.PathLike):
            return isinstance(self.source, list | tuple) and "-" in self.source
        path = Path(self.source)
        return self.source == "-" or (path.exists() and not (path.is_file() or path.is_dir()))

    def _stored_counts(self, pairs: bool) -> Counted:
        found = read_counts(self.source).with_names()
        if pairs and found.pairs is None:
            raise FormatError(
                f"{self.source} has no counts of pairs; count the statements with "
                f"{option('pairs', True)}"
            )
        return found


def available_memory() -> int:
    """Bytes of memory that this process may still take, as far as the machine says."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):  # not on Windows
        found.append(_USUAL_MEMORY)
    try:
        facts = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(1024 * int(facts["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        pass
    try:  # a container may have less than its machine
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
        found.append(max(int(limit) - int(used), 0))
    except (OSError, ValueError):
        pass
    return min(found)


def refuse_vast(statements: Statements) -> None:
    """Refuse ids so large that not even counts of the objects up to the largest fit in memory."""
    n = statements.n_objects
    if n < _VAST or n * _BYTES_OF_COUNTS <= available_memory():
        return
    raise StatementError(
        f"the largest id is {n - 1:,}, and so many objects do not fit in memory; name the objects, "
        f"or number them from 0 on"
    )


def _expansion(path: str) -> int:
    """Bytes of memory for each byte of a file."""
    low = path.lower()
    if low.endswith(_ENDINGS_OF_COMPRESSED):
        return _COMPRESSED
    return _EXPANDS.get(Path(low).suffix, _PLAIN)


#: What every question takes.
AnswersLike: TypeAlias = Answers | StatementsLike


def read_or_count(
    data: Answers,
    *,
    enough: bool = False,
    pairs: bool = False,
    n_threads: int | None = None,
    cluster: Any = None,
) -> Statements | Counted:
    """The statements where they are held in memory, otherwise their counts.

    ``enough`` says that counts are all that is needed: large files are then counted however much
    memory there is, unless they tell of raters, screens, or why a question was asked. The others
    are those of `Answers.count`.
    """
    if data.in_counts or not data.held or (enough and data.countable):
        return data.count(pairs=pairs, n_threads=n_threads, cluster=cluster)
    return data.read()


def central_counts(
    data: AnswersLike | Counted | CentralCounts, kind: Kind | None = None
) -> CentralCounts:
    """The counts per object, wherever the answers lie; arrays are of this ``kind``.

    >>> central_counts(Answers([[0, 1, 2], [0, 1, 3]], kind="central")).singled.tolist()
    [2, 0, 0, 0]
    """
    given = Answers(data) if is_path(data) else data
    found = read_or_count(given, enough=True) if isinstance(given, Answers) else given
    if isinstance(found, Counted):
        return found.central
    if isinstance(found, CentralCounts):
        return found
    statements = as_statements(found, kind)
    refuse_vast(statements)
    return count_central(statements)


def pair_counts(data: AnswersLike | Counted | PairCounts) -> PairCounts:
    """The counts per pair of objects, wherever the answers lie; counts without pairs are refused.

    >>> pair_counts(Answers([[0, 1, 2], [0, 1, 2]], kind="central")).third.tolist()
    [[0, 0, 0], [0, 0, 2], [0, 2, 0]]
    """
    found = read_or_count(data, enough=True, pairs=True) if isinstance(data, Answers) else data
    if not isinstance(found, Counted):
        return found if isinstance(found, PairCounts) else count_pairs(found)
    if found.pairs is None:
        raise FormatError(f"pairs were not counted; count the answers with {option('pairs', True)}")
    return PairCounts(found.pairs.third, found.pairs.appears, found.kind, found.names)
