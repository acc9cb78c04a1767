"""Learning from ordinal data: medoids, outliers, classes, clusters and maps.

>>> import trilens as tl
>>> S = tl.Statements([[0, 1, 2], [0, 1, 3], [2, 1, 3]], names=["a", "b", "c", "d"], kind="central")
>>> tl.medoid(S).name
'a'

The names stand in ``__init__.pyi``; each is imported when it is first used, so that
``import trilens`` is quick.
"""

import lazy_loader

__getattr__, _, _names = lazy_loader.attach_stub(__name__, __file__)
#: Rooms that can be had, and are not what people look for.
_ROOMS = {"analysis", "counts", "files", "lens", "maps", "questions", "report", "statements"}
__all__ = [name for name in _names if name not in _ROOMS]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return __all__
