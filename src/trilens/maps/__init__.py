"""Coordinates: the lens map, in closed form, and the ordinal embeddings.

Each name of ``__init__.pyi`` is imported when it is first used: the estimators bring scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
