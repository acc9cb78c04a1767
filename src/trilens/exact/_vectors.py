# mypy: disable-error-code="no-untyped-def, no-untyped-call, import-untyped, call-arg"
"""The sizes of lenses, as intersections of two sets of bits.

Object k lies in Lens(i, j) exactly when k is nearer to i than j is, and nearer to j than i is:
two prefixes of the rows i and j, each put in order. The ranks of a row are kept as planes of
bits, 64 columns to a word, and read in three digits. For a chunk of columns a table says for
every value of a digit which columns have a lower one; two ANDs and ORs of its entries make a
prefix, and a lens is one AND and one population count per 64 objects.

The innermost loops are written in LLVM's own vector types, of eight words. numba runs LLVM
without its straight-line vectoriser and unrolls loops of eight words before the loop vectoriser
sees them, so plain code stays scalar, and takes 4.6 times as long. LLVM splits the vectors into
whatever registers the machine has: two AVX2, one AVX-512, four Neon.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from trilens import _compiled

#: As it is, for loops whose arguments are not annotated.
compiled: Any = _compiled.compiled

#: Words in a chunk of columns, a cache line, and columns; those of the ranks are padded to it.
WORDS = 8
CHUNK = 64 * WORDS
#: Rows j whose tables are held at once: together they fit in the second cache.
ROWS = 128

_WORD = ir.IntType(64)
_SHORT = ir.IntType(16)
_INT = ir.IntType(32)
_VECTOR = ir.VectorType(_WORD, WORDS)
_SHORTS = ir.VectorType(_SHORT, 64)
_ALL = ir.Constant(_VECTOR, [2**64 - 1] * WORDS)
_NONE = ir.Constant(_VECTOR, [0] * WORDS)
_ZEROS = ir.Constant(_SHORTS, [0] * 64)


def _word(value: int) -> Any:
    return ir.Constant(_WORD, value)


class _Arrays:
    """The arrays of one intrinsic, as pointers, and vectors in and out of them."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.data = [
            context.make_array(kind)(context, builder, value).data
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    def _at(self, array: int, vector: Any) -> Any:
        word = self.builder.mul(vector, _word(WORDS))
        place = self.builder.gep(self.data[array], [word])
        return self.builder.bitcast(place, _VECTOR.as_pointer())

    def load(self, array: int, vector: Any) -> Any:
        value = self.builder.load(self._at(array, vector))
        value.align = 8
        return value

    def store(self, value: Any, array: int, vector: Any) -> None:
        self.builder.store(value, self._at(array, vector)).align = 8

    def bit(self, number: Any) -> Any:
        """That bit alone, in each of 64 short numbers."""
        builder = self.builder
        one = builder.shl(ir.Constant(_SHORT, 1), builder.trunc(number, _SHORT))
        first = builder.insert_element(
            ir.Constant(_SHORTS, ir.Undefined), one, ir.Constant(_INT, 0)
        )
        return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT, 64), [0] * 64))


def _filling(n_bits: int) -> Any:
    @intrinsic
    def fill(_typing, planes, first, table, at):
        """``table[at + v]``: the columns whose digit is below v, for v = 0 .. 2**n_bits.

        The bits of the digit stand in the vectors ``first`` and following of ``planes``.
        """

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            arrays = _Arrays(context, builder, signature, arguments)
            _, first, _, at = arrays.data
            unset = [
                builder.xor(arrays.load(0, builder.add(first, _word(b))), _ALL)
                for b in range(n_bits)
            ]

            def double(sets: list[Any], bit: Any) -> list[Any]:
                return [builder.and_(s, bit) for s in sets] + [builder.or_(s, bit) for s in sets]

            # sixteen sets stay in registers; what more bits make of each is stored at once
            low = min(n_bits, 4)
            sets = [_NONE]
            for b in range(low):
                sets = double(sets, unset[b])
            for v, one in enumerate(sets):
                grown = [one]
                for b in range(low, n_bits):
                    grown = double(grown, unset[b])
                for high, value in enumerate(grown):
                    arrays.store(value, 2, builder.add(at, _word(v + (high << low))))
            arrays.store(_ALL, 2, builder.add(at, _word(1 << n_bits)))
            return context.get_dummy_value()

        return types.void(planes, types.int64, table, types.int64), code

    return fill


fill_1, fill_2, fill_3, fill_4, fill_5, fill_6 = (_filling(n_bits) for n_bits in range(1, 7))


@intrinsic
def meet(_typing, one, many, entries, cuts_i, cuts_j, at, n, low, middle, sizes):
    """Add the size of a lens to ``sizes[at + j]`` for each of n rows j and one row i.

    ``one`` holds the tables of the three digits of row i, ``many`` those of the rows j, each of
    ``entries`` vectors; ``cuts_i[at + j]`` and ``cuts_j[at + j]`` are the ranks at which the two
    rows are cut. ``low`` and ``middle`` are the bits of the digits.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        _, _, entries, cuts_i, cuts_j, at, n, low, middle, sizes = arrays.data
        cuts_i, cuts_j, sizes = (builder.gep(x, [at]) for x in (cuts_i, cuts_j, sizes))
        suffix = f"v{WORDS}i64"
        bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.ctpop.{suffix}"
        )
        total = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WORD, [_VECTOR]), f"llvm.vector.reduce.add.{suffix}"
        )
        one = _word(1)
        low_mask = builder.sub(builder.shl(one, low), one)
        middle_mask = builder.sub(builder.shl(one, middle), one)
        to_middle = builder.add(low_mask, _word(2))
        to_high = builder.add(to_middle, builder.add(middle_mask, _word(2)))
        both = builder.add(low, middle)

        def below(array: int, base: Any, cut: Any) -> Any:
            """The columns below a cut: by the high digit, or that equal and by the next."""
            digits = (
                (to_middle, builder.and_(builder.lshr(cut, low), middle_mask)),
                (to_high, builder.lshr(cut, both)),
            )
            less = arrays.load(array, builder.add(base, builder.and_(cut, low_mask)))
            for start, digit in digits:
                place = builder.add(builder.add(base, start), digit)
                upto = arrays.load(array, builder.add(place, one))
                less = builder.or_(arrays.load(array, place), builder.and_(upto, less))
            return less

        with cgutils.for_range(builder, n) as loop:
            j = loop.index
            x = builder.zext(builder.load(builder.gep(cuts_i, [j])), _WORD)
            y = builder.zext(builder.load(builder.gep(cuts_j, [j])), _WORD)
            lens = builder.and_(below(0, _word(0), x), below(1, builder.mul(j, entries), y))
            size = builder.trunc(builder.call(total, [builder.call(bits, [lens])]), _INT)
            place = builder.gep(sizes, [j])
            builder.store(builder.add(builder.load(place), size), place)
        return context.get_dummy_value()

    number = types.int64
    numbers = (number, number, number, number)
    return types.void(one, many, number, cuts_i, cuts_j, *numbers, sizes), code


@intrinsic
def slice_word(_typing, ranks, at, n_bits, planes, word):
    """Bit b of the 64 ranks from ``at`` on, for each b, as word ``word + WORDS * b``."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        ranks, at, n_bits, planes, word = arrays.data
        place = builder.bitcast(builder.gep(ranks, [at]), _SHORTS.as_pointer())
        values = builder.load(place)
        values.align = 2
        with cgutils.for_range(builder, n_bits) as loop:
            hit = builder.icmp_unsigned("!=", builder.and_(values, arrays.bit(loop.index)), _ZEROS)
            to = builder.add(word, builder.mul(loop.index, _word(WORDS)))
            builder.store(builder.bitcast(hit, _WORD), builder.gep(planes, [to]))
        return context.get_dummy_value()

    return types.void(ranks, types.int64, types.int64, planes, types.int64), code


@intrinsic
def join_word(_typing, planes, word, n_bits, ranks, at):
    """The 64 ranks that `slice_word` took apart, back from ``at`` on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        planes, word, n_bits, ranks, at = arrays.data
        values = cgutils.alloca_once(builder, _SHORTS)
        builder.store(_ZEROS, values)
        with cgutils.for_range(builder, n_bits) as loop:
            source = builder.add(word, builder.mul(loop.index, _word(WORDS)))
            hit = builder.bitcast(
                builder.load(builder.gep(planes, [source])), ir.VectorType(ir.IntType(1), 64)
            )
            part = builder.select(hit, arrays.bit(loop.index), _ZEROS)
            builder.store(builder.or_(builder.load(values), part), values)
        place = builder.bitcast(builder.gep(ranks, [at]), _SHORTS.as_pointer())
        builder.store(builder.load(values), place).align = 2
        return context.get_dummy_value()

    return types.void(planes, types.int64, types.int64, ranks, types.int64), code


@compiled(inline="always")
def fill(n_bits, planes, first, table, at):
    """The table of one digit."""
    if n_bits == 1:
        fill_1(planes, first, table, at)
    elif n_bits == 2:
        fill_2(planes, first, table, at)
    elif n_bits == 3:
        fill_3(planes, first, table, at)
    elif n_bits == 4:
        fill_4(planes, first, table, at)
    elif n_bits == 5:
        fill_5(planes, first, table, at)
    else:
        fill_6(planes, first, table, at)


@compiled()
def slice_ranks(ranks, planes, n_bits):
    """Planes (rows, chunks, bits, WORDS) of ranks (rows, chunks * CHUNK)."""
    chunks = planes.shape[1]
    flat = planes.reshape(-1)
    numbers = ranks.reshape(-1)
    for row in range(len(planes)):
        for chunk in range(chunks):
            to = (row * chunks + chunk) * n_bits * WORDS
            for word in range(WORDS):
                at = (row * chunks + chunk) * CHUNK + 64 * word
                slice_word(numbers, at, n_bits, flat, to + word)


@compiled()
def lens_sizes(planes_i, i0, planes_j, j0, first, rows, n_bits, plain, ties, sizes):
    """Sizes of the lenses of rows i with ``rows`` rows j, from row ``first`` of planes_j on.

    Row r of ``planes_i`` is object i0 + r, row r of ``planes_j`` object j0 + r. ``first`` makes
    j0 + first a multiple of 64. Adds to ``sizes[m, r, c]``, of (1 or 4, len(planes_i), ROWS), the
    size for the pair of row r and row first + c: with ``plain``, for m = 0, of the lens itself;
    with ``ties``, for m = 1, 2, 3, of what it becomes when objects as far as j from i, as far as
    i from j, or both are let in.
    """
    n_i, chunks = planes_i.shape[0], planes_i.shape[1]
    low = min(6, n_bits // 3)
    middle = min(6, (n_bits - low) // 2)
    high = n_bits - low - middle
    to_middle = (1 << low) + 1
    to_high = to_middle + (1 << middle) + 1
    entries = to_high + (1 << high) + 1
    one = np.empty(entries * WORDS, np.uint64)
    many = np.empty(ROWS * entries * WORDS, np.uint64)
    cuts_i = np.zeros((n_i, ROWS), np.uint16)
    cuts_j = np.zeros((n_i, ROWS), np.uint16)
    flat_i, flat_j = planes_i.reshape(-1), planes_j.reshape(-1)
    step = n_bits * WORDS
    # where row j is cut for object i, and row i for object j
    span = i0 // 64 * 64
    row = np.empty((i0 + n_i - span + 63) // 64 * 64, np.uint16)
    for c in range(rows):
        for k in range(0, len(row), 64):
            column = span + k
            at = ((first + c) * chunks + column // CHUNK) * step + column % CHUNK // 64
            join_word(flat_j, at, n_bits, row, k)
        for r in range(n_i):
            cuts_j[r, c] = row[i0 - span + r]
    at_i, at_j = cuts_i.reshape(-1), cuts_j.reshape(-1)
    for r in range(n_i):
        for k in range(0, rows, 64):
            column = j0 + first + k
            at = (r * chunks + column // CHUNK) * step + column % CHUNK // 64
            join_word(flat_i, at, n_bits, at_i, r * ROWS + k)
    next_i = at_i + np.uint16(1) if ties else at_i
    next_j = at_j + np.uint16(1) if ties else at_j
    found = sizes.reshape(len(sizes), -1)
    for chunk in range(chunks):
        for c in range(rows):
            at = ((first + c) * chunks + chunk) * n_bits
            fill(low, flat_j, at, many, c * entries)
            fill(middle, flat_j, at + low, many, c * entries + to_middle)
            fill(high, flat_j, at + low + middle, many, c * entries + to_high)
        for r in range(n_i):
            at = (r * chunks + chunk) * n_bits
            fill(low, flat_i, at, one, 0)
            fill(middle, flat_i, at + low, one, to_middle)
            fill(high, flat_i, at + low + middle, one, to_high)
            to = r * ROWS
            if plain:
                meet(one, many, entries, at_i, at_j, to, rows, low, middle, found[0])
            if ties:
                meet(one, many, entries, next_i, at_j, to, rows, low, middle, found[1])
                meet(one, many, entries, at_i, next_j, to, rows, low, middle, found[2])
                meet(one, many, entries, next_i, next_j, to, rows, low, middle, found[3])


def work() -> bool:
    """Whether the vectors compile here, and are right about the points 0, 1, 3, 7 on a line."""
    ranks = np.full((4, CHUNK), 4, np.uint16)
    ranks[:, :4] = [[0, 1, 2, 3], [1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0]]
    planes = np.empty((4, 1, 3, WORDS), np.uint64)
    sizes = np.zeros((1, 4, ROWS), np.int32)
    try:
        slice_ranks(ranks, planes, 3)
        lens_sizes(planes, 0, planes, 0, 0, 4, 3, True, False, sizes)
    except Exception:  # whatever the compiler raises
        return False
    lenses = [[0, 0, 1, 2], [0, 0, 0, 1], [1, 0, 0, 0], [2, 1, 0, 0]]
    return bool(np.array_equal(sizes[0, :, :4], lenses))
