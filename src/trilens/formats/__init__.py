"""Statement files: reading, writing and scanning; label files and lists of objects."""

from trilens.formats.atomic import atomic_write, refuse_to_overwrite
from trilens.formats.comparisons import read_comparisons, write_comparisons
from trilens.formats.csv_table import write_table
from trilens.formats.extra import read_columns
from trilens.formats.faults import Fault
from trilens.formats.labels import Labels, labels_for, read_labels
from trilens.formats.objects import read_objects
from trilens.formats.read import read_statements
from trilens.formats.reading import Reading
from trilens.formats.scan import Scan, scan_statements
from trilens.formats.vectors import read_matrix, read_vectors
from trilens.formats.write import write_statements

__all__ = [
    "Fault",
    "Labels",
    "Reading",
    "Scan",
    "atomic_write",
    "labels_for",
    "read_columns",
    "read_comparisons",
    "read_labels",
    "read_matrix",
    "read_objects",
    "read_statements",
    "read_vectors",
    "refuse_to_overwrite",
    "scan_statements",
    "write_comparisons",
    "write_statements",
    "write_table",
]
