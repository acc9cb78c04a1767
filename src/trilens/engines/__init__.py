"""The same count on threads, on processes, on Dask and on Ray, with checkpoints of our own.

A file is cut into partitions (`partition`), each is counted by one function (`work`) wherever
an engine runs it (`engine`), the counts are merged by a tree, and what is finished is kept in
a folder (`checkpoint`), so that a second run counts only what is missing.
"""

from trilens.engines.count import CountReport, count_files
from trilens.engines.follow import follow

__all__ = ["CountReport", "count_files", "follow"]
