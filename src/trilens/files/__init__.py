"""Statement files: reading, writing and scanning; label files and lists of objects."""

from trilens.files.output import atomic_write, refuse_to_overwrite, write_table
from trilens.files.read import Scan, read_statements, scan_statements
from trilens.files.side_tables import (
    Labels,
    read_comparisons,
    read_labels,
)
from trilens.files.vectors import read_features, read_vectors
from trilens.files.write import write_statements
from trilens.statements.batch import Fault
from trilens.statements.reading import Reading

__all__ = [
    "Fault",
    "Labels",
    "Reading",
    "Scan",
    "atomic_write",
    "read_comparisons",
    "read_features",
    "read_labels",
    "read_statements",
    "read_vectors",
    "refuse_to_overwrite",
    "scan_statements",
    "write_statements",
    "write_table",
]
