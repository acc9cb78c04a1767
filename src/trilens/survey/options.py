"""How a server is reached."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """How the server is reached.

    Attributes
    ----------
    root_path
        The path under which a proxy serves it, such as ``/study``.
    hosts
        The names under which it may be called; none for any.
    secure
        Whether browsers reach it by TLS: cookies are then ``Secure``.
    """

    root_path: str = ""
    hosts: frozenset[str] = frozenset()
    secure: bool = False
