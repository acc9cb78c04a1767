"""Learning from ordinal data: medoids, outliers, classes, clusters and maps.

>>> import trilens as tl
>>> S = tl.Statements([[0, 1, 2], [0, 1, 3], [2, 1, 3]], names=["a", "b", "c", "d"])
>>> tl.medoid(S).name
'a'

The names stand in ``__init__.pyi``; each is imported when it is first used, so that
``import trilens`` is quick.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
