"""A table of no package in particular: all that is known of it is that it speaks Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


class ArrowTable:
    """Made of columns by name, of a pyarrow table, or of an array, whose columns are counted."""

    def __init__(self, given: Any) -> None:
        if hasattr(given, "T"):
            given = {f"column_{j}": column for j, column in enumerate(given.T)}
        self._table = given if isinstance(given, pa.Table) else pa.table(given)
        self.columns = self._table.column_names

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __getitem__(self, name: str) -> Any:
        return self._table.column(name).to_numpy()
