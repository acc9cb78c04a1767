# mypy: disable-error-code="no-untyped-def"
"""The compiled loop of shortest paths between all pairs of a complete graph."""

from __future__ import annotations

from trilens.exact._compile import compiled


@compiled()
def relax(ways):
    """Floyd and Warshall: allow one more point on the way at a time."""
    n = len(ways)
    for k in range(n):
        through = ways[k]
        for i in range(n):
            first = ways[i, k]
            row = ways[i]
            for j in range(n):
                way = first + through[j]
                row[j] = way if way < row[j] else row[j]
