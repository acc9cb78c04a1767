"""Signed cookies: what the server gave out, and nobody changed."""

from __future__ import annotations

import base64
import hashlib
import hmac

PARTICIPANT = "trilens_participant"
RESEARCHER = "trilens_researcher"


def sign(key: bytes, purpose: str, value: str) -> str:
    """The value with its signature; good for one purpose alone.

    >>> unsign(b"key", "a", sign(b"key", "a", "7"))
    '7'
    >>> unsign(b"key", "b", sign(b"key", "a", "7")) is None
    True
    """
    return f"{value}.{_signature(key, purpose, value)}"


def unsign(key: bytes, purpose: str, signed: str | None) -> str | None:
    """The value, if its signature is ours."""
    if signed is None or not signed.isascii():
        return None
    value, dot, signature = signed.rpartition(".")
    good = hmac.compare_digest(signature, _signature(key, purpose, value))
    return value if dot and good else None


def _signature(key: bytes, purpose: str, value: str) -> str:
    digest = hmac.digest(key, f"{purpose}\0{value}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
