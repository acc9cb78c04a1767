# mypy: disable-error-code="no-untyped-def, no-untyped-call, import-untyped"
"""Loops over vectors of eight words, written in LLVM's own vector types.

numba runs LLVM without its straight-line vectoriser and unrolls loops of eight words before
the loop vectoriser sees them, so plain code stays scalar. LLVM splits the
vectors here into whatever registers the machine has: two AVX2, one AVX-512, four Neon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Words in a chunk of columns: a cache line.
WORDS = 8
#: Bits of the vertical counters: enough for the pairs of a tile of at most 255 x 255.
PLANES = 16

#: Bytes of a table that are filled at once.
STEP = 32

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)


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
        word = self.builder.mul(vector, ir.Constant(_WORD, WORDS))
        place = self.builder.gep(self.data[array], [word])
        return self.builder.bitcast(place, _VECTOR.as_pointer())

    def load(self, array: int, vector: Any) -> Any:
        value = self.builder.load(self._at(array, vector))
        value.align = 8
        return value

    def store(self, value: Any, array: int, vector: Any) -> None:
        self.builder.store(value, self._at(array, vector)).align = 8

    def item(self, array: int, index: Any) -> Any:
        """Element of an array of bytes, widened."""
        place = self.builder.gep(self.data[array], [index])
        return self.builder.zext(self.builder.load(place), _WORD)


def _running_unions(arrays: _Arrays, n: Any, body: Callable[[Any, Any], None]) -> None:
    """Call ``body(s, union of the vectors 0..s of array 0)``; the union stays in registers."""
    builder = arrays.builder
    union = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0] * WORDS))
    builder.store(ir.Constant(_VECTOR, [0] * WORDS), union)
    with cgutils.for_range(builder, n) as loop:
        value = builder.or_(builder.load(union), arrays.load(0, loop.index))
        builder.store(value, union)
        body(loop.index, value)


@intrinsic
def fill_step(_typing, table, at, value):
    """``table[at : at + STEP] = value``, of bytes."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = _Arrays(context, builder, signature, arguments).data
        vector = ir.VectorType(ir.IntType(8), STEP)
        one = builder.insert_element(
            ir.Constant(vector, ir.Undefined), data[2], ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), STEP), [0] * STEP)
        place = builder.bitcast(builder.gep(data[0], [data[1]]), vector.as_pointer())
        builder.store(builder.shuffle_vector(one, one, zeros), place).align = 1
        return context.get_dummy_value()

    return types.void(table, types.int64, types.uint8), code


@intrinsic
def spread(_typing, sets, order, n, held, base, step):
    """``held[order[s] * step + base] = sets[0] | ... | sets[s]`` for s < n."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        _, _, n, _, base, step = arrays.data

        def body(s: Any, union: Any) -> None:
            to = builder.add(builder.mul(arrays.item(1, s), step), base)
            arrays.store(union, 3, to)

        _running_unions(arrays, n, body)
        return context.get_dummy_value()

    return types.void(sets, order, types.int64, held, types.int64, types.int64), code


@intrinsic
def meet_sizes(_typing, sets, order, n, held, base, sizes):
    """Add to ``sizes[order[s]]`` the bits of ``(sets[0] | ... | sets[s]) & held[...]``."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        n, base, sizes = arrays.data[2], arrays.data[4], arrays.data[5]
        suffix = f"v{WORDS}i64"
        bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.ctpop.{suffix}"
        )
        total = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_WORD, [_VECTOR]), f"llvm.vector.reduce.add.{suffix}"
        )

        def body(s: Any, union: Any) -> None:
            i = arrays.item(1, s)
            both = builder.and_(union, arrays.load(3, builder.add(base, i)))
            size = builder.call(total, [builder.call(bits, [both])])
            size = builder.trunc(size, ir.IntType(32))
            place = builder.gep(sizes, [i])
            builder.store(builder.add(builder.load(place), size), place)

        _running_unions(arrays, n, body)
        return context.get_dummy_value()

    return types.void(sets, order, types.int64, held, types.int64, sizes), code


@intrinsic
def meet(_typing, sets, order, n, held, base, lenses, below):
    """``lenses[s] = (sets[0] | ... | sets[s]) & held[...]``, empty unless order[s] < below."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)
        n, base, below = arrays.data[2], arrays.data[4], arrays.data[6]
        nothing = ir.Constant(_VECTOR, [0] * WORDS)

        def body(s: Any, union: Any) -> None:
            i = arrays.item(1, s)
            both = builder.and_(union, arrays.load(3, builder.add(base, i)))
            once = builder.icmp_signed("<", i, below)
            arrays.store(builder.select(once, both, nothing), 5, s)

        _running_unions(arrays, n, body)
        return context.get_dummy_value()

    return types.void(sets, order, types.int64, held, types.int64, lenses, types.int64), code


@intrinsic
def add_vertically(_typing, lenses, n_sixteens, planes):
    """Add ``16 * n_sixteens`` lenses to bit-sliced counters, one counter per column.

    Plane p holds bit p of every counter. Carry-save adders bring sixteen lenses to one word of
    carries, so the higher planes are touched once in sixteen.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = _Arrays(context, builder, signature, arguments)

        def plane(p: int) -> Any:
            return ir.Constant(_WORD, p)

        def add(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
            half = builder.xor(a, b)
            return builder.xor(half, c), builder.or_(builder.and_(a, b), builder.and_(half, c))

        with cgutils.for_range(builder, arrays.data[1]) as loop:
            first = builder.mul(loop.index, ir.Constant(_WORD, 16))
            sums = [arrays.load(2, plane(p)) for p in range(4)]

            def take(level: int, at: int) -> Any:
                """The carry out of ``level`` planes for the lenses from ``at`` on."""
                if level == 0:
                    return arrays.load(0, builder.add(first, ir.Constant(_WORD, at)))
                left = take(level - 1, at)
                right = take(level - 1, at + (1 << (level - 1)))
                sums[level - 1], carry = add(sums[level - 1], left, right)
                return carry

            carry = take(4, 0)
            for p in range(4):
                arrays.store(sums[p], 2, plane(p))
            for p in range(4, PLANES):
                value = arrays.load(2, plane(p))
                arrays.store(builder.xor(value, carry), 2, plane(p))
                carry = builder.and_(value, carry)
        return context.get_dummy_value()

    return types.void(lenses, types.int64, planes), code
