# mypy: disable-error-code="no-untyped-def, no-untyped-call, import-untyped"
"""Loops over vectors of eight words, written in LLVM's own vector types.

numba runs LLVM without its straight-line vectoriser and unrolls loops of eight words before
the loop vectoriser sees them, so plain code stays scalar. LLVM splits the
vectors here into whatever registers the machine has: two AVX2, one AVX-512, four Neon.
The same loops in plain code stand in ``_loops.py``, for where these do not compile.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Words in a chunk of columns: a cache line.
WORDS = 8

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
