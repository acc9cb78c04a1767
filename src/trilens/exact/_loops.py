# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""The loops of ``_vectors.py`` in plain code: slower, and needing nothing of LLVM's vectors."""

from __future__ import annotations

import numpy as np

from trilens.exact._compile import compiled

WORDS = 8
U = np.uint64


@compiled()
def _fill(n_bits, planes, first, table, at):
    for w in range(WORDS):
        table[at * WORDS + w] = U(0)
    size = 1
    for b in range(n_bits):
        for w in range(WORDS):
            unset = ~planes[(first + b) * WORDS + w]
            for v in range(size):
                old = table[(at + v) * WORDS + w]
                table[(at + v) * WORDS + w] = old & unset
                table[(at + size + v) * WORDS + w] = old | unset
        size *= 2
    for w in range(WORDS):
        table[(at + size) * WORDS + w] = ~U(0)


def _filling(n_bits):
    @compiled()
    def fill(planes, first, table, at):
        _fill(n_bits, planes, first, table, at)

    return fill


fill_1, fill_2, fill_3, fill_4, fill_5, fill_6 = (_filling(n_bits) for n_bits in range(1, 7))


@compiled()
def _count(x):
    x = x - ((x >> U(1)) & U(0x5555555555555555))
    x = (x & U(0x3333333333333333)) + ((x >> U(2)) & U(0x3333333333333333))
    x = (x + (x >> U(4))) & U(0x0F0F0F0F0F0F0F0F)
    return (x * U(0x0101010101010101)) >> U(56)


@compiled()
def meet(one, many, entries, cuts_i, cuts_j, at, n, low, middle, sizes):
    to_middle = (1 << low) + 1
    to_high = to_middle + (1 << middle) + 1
    for j in range(n):
        x, y = np.int64(cuts_i[at + j]), np.int64(cuts_j[at + j])
        x_low, y_low = x & ((1 << low) - 1), y & ((1 << low) - 1)
        x_middle = to_middle + ((x >> low) & ((1 << middle) - 1))
        y_middle = to_middle + ((y >> low) & ((1 << middle) - 1))
        x_high, y_high = to_high + (x >> (low + middle)), to_high + (y >> (low + middle))
        size = U(0)
        for w in range(WORDS):
            a = one[x_low * WORDS + w]
            a = one[x_middle * WORDS + w] | (one[(x_middle + 1) * WORDS + w] & a)
            a = one[x_high * WORDS + w] | (one[(x_high + 1) * WORDS + w] & a)
            base = j * entries
            b = many[(base + y_low) * WORDS + w]
            b = many[(base + y_middle) * WORDS + w] | (many[(base + y_middle + 1) * WORDS + w] & b)
            b = many[(base + y_high) * WORDS + w] | (many[(base + y_high + 1) * WORDS + w] & b)
            size += _count(a & b)
        sizes[at + j] += np.int32(size)


@compiled()
def slice_word(ranks, at, n_bits, planes, word):
    for b in range(n_bits):
        value = U(0)
        for k in range(64):
            value |= ((U(ranks[at + k]) >> U(b)) & U(1)) << U(k)
        planes[word + WORDS * b] = value


@compiled()
def join_word(planes, word, n_bits, ranks, at):
    for k in range(64):
        value = U(0)
        for b in range(n_bits):
            value |= ((planes[word + WORDS * b] >> U(k)) & U(1)) << U(b)
        ranks[at + k] = np.uint16(value)
