"""Who is who: signed cookies, the researchers' passwords and sessions."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from dataclasses import dataclass
from functools import cache, lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from fastapi import Request
from itsdangerous import BadSignature, Signer
from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from trilens.errors import SurveyError
from trilens_survey.schema import researchers, sessions
from trilens_survey.store.administration import get_setting, lock, put, put_setting, record
from trilens_survey.writer import Refused

#: The cookies' names.
PARTICIPANT = "trilens_participant"
RESEARCHER = "trilens_researcher"
#: Of a browser in which the right password was typed before.
DEVICE = "trilens_device"
#: The researcher who is there first.
FIRST = "researcher"
#: A researcher is signed out after so many seconds.
SESSION_SECONDS = 12 * 3600
#: Characters of a password.
SHORTEST = 10
LONGEST = 200

#: OWASP's lower setting for Argon2id: 19 MiB and two passes.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@cache
def _nobody() -> str:
    """The hash of a password that nobody has."""
    return _hasher.hash(secrets.token_hex(16))


def sign(key: bytes, purpose: str, value: str) -> str:
    """The value with its signature; good for one purpose alone.

    >>> unsign(b"key", "a", sign(b"key", "a", "7"))
    '7'
    >>> unsign(b"key", "b", sign(b"key", "a", "7")) is None
    True
    """
    return _signer(key, purpose).sign(value).decode()


def unsign(key: bytes, purpose: str, signed: str | None) -> str | None:
    """The value, if its signature is ours."""
    if signed is None:
        return None
    try:
        return _signer(key, purpose).unsign(signed).decode()
    except BadSignature:
        return None


@lru_cache(8)
def _signer(key: bytes, purpose: str) -> Signer:
    return Signer(key, salt=purpose, digest_method=hashlib.sha256)


def set_password(connection: Connection, password: str, name: str = FIRST) -> None:
    """Keep a researcher's new password; wherever they are signed in, they are signed out."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise SurveyError(f"a password has {SHORTEST} to {LONGEST} characters")
    if not re.fullmatch(r"[\w.@+-]{1,60}", name):
        raise SurveyError(
            f"a researcher's name has 1 to 60 letters, digits and . @ + - _, not {name!r}"
        )
    lock(connection, "researchers")
    row = {"name": name, "password": _hasher.hash(password), "made": time.time()}
    put(connection, researchers, row)
    put_setting(connection, "first_key", None)
    connection.execute(delete(sessions).where(sessions.c.researcher == name))
    record(connection, name, "got a new password")


def remove_researcher(connection: Connection, name: str) -> None:
    """Somebody may not sign in any more; the last one stays."""
    lock(connection, "researchers")
    known = researcher_names(connection)
    if name not in known:
        raise SurveyError(f"no researcher is called {name!r}; there are {', '.join(known)}")
    if len(known) == 1:
        raise SurveyError(f"{name!r} is the only researcher; add another one first")
    connection.execute(delete(researchers).where(researchers.c.name == name))
    record(connection, name, "may not sign in any more")
    connection.execute(delete(sessions).where(sessions.c.researcher == name))


def researcher_names(connection: Connection) -> list[str]:
    """Who may sign in."""
    query = select(researchers.c.name).order_by(researchers.c.name)
    return [str(name) for name in connection.execute(query).scalars()]


def password_of(connection: Connection, name: str) -> str | None:
    """The hash of a researcher's password."""
    query = select(researchers.c.password).where(researchers.c.name == name)
    found = connection.execute(query).scalar()
    return None if found is None else str(found)


def matches(stored: str | None, password: str) -> bool:
    """Whether this is the password; takes its time on purpose, also for unknown names."""
    if len(password) > LONGEST:
        return False
    try:
        return _hasher.verify(stored or _nobody(), password) and stored is not None
    except (Argon2Error, InvalidHashError):
        return False


@dataclass(frozen=True)
class Session:
    """A researcher who is signed in."""

    key_hash: str
    csrf: str
    researcher: str


class Limiter:
    """At most so many events in a span of seconds from ``each`` sender; no sender stops another.

    Senders are kept as keyed hashes, in memory, and for the span alone.
    """

    def __init__(self, each: int, span: int = 300) -> None:
        self._limit = RateLimitItemPerSecond(each, span)
        self._window = MovingWindowRateLimiter(MemoryStorage())
        self._key = secrets.token_bytes(16)

    def allows(self, sender: str) -> bool:
        """Whether one more may come from this sender now; if so, it is counted.

        >>> limiter = Limiter(each=2)
        >>> [limiter.allows(who) for who in "aaabb"]
        [True, True, False, True, True]
        """
        return self._window.hit(self._limit, self._hash(sender))

    def forgive(self, sender: str) -> None:
        """Count nothing that came from this sender before."""
        self._window.clear(self._limit, self._hash(sender))

    def _hash(self, sender: str) -> str:
        return hashlib.blake2b(sender.encode(), key=self._key, digest_size=8).hexdigest()


def address_of(request: Request) -> str:
    """Where a request comes from; of IPv6 the network, in which one person has every address."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, 64), strict=False))


def make_first_key(connection: Connection) -> str | None:
    """A key for setting the first password; None where there is one already."""
    lock(connection, "researchers")
    if researcher_names(connection):
        return None
    key = secrets.token_urlsafe(24)
    put_setting(connection, "first_key", _hash(key))
    return key


def is_first_key(connection: Connection, key: str) -> bool:
    """Whether this key was printed at the last start, and no password set since."""
    stored = get_setting(connection, "first_key")
    return stored is not None and hmac.compare_digest(stored, _hash(key))


def set_first_password(connection: Connection, key: str, password: str) -> None:
    """Set the first password with the key that was printed; of two who try, one does."""
    lock(connection, "researchers")
    if not is_first_key(connection, key):
        raise Refused(403, "this link has expired")
    set_password(connection, password)


def sign_in(connection: Connection, name: str) -> str:
    """Begin a session; the key that its cookie holds."""
    key, now = secrets.token_urlsafe(32), time.time()
    connection.execute(delete(sessions).where(sessions.c.ends < now))
    row = {"key_hash": _hash(key), "csrf": secrets.token_urlsafe(24), "researcher": name}
    connection.execute(insert(sessions), row | {"ends": now + SESSION_SECONDS})
    record(connection, name, "signed in")
    return key


def find_session(connection: Connection, key: str) -> Session | None:
    """The session of a cookie's key, while it lasts."""
    row = connection.execute(
        select(sessions).where(sessions.c.key_hash == _hash(key), sessions.c.ends > time.time())
    ).one_or_none()
    return None if row is None else Session(row.key_hash, row.csrf, row.researcher)


def sign_out(connection: Connection, session: Session) -> None:
    """The cookie is worth nothing from now on, wherever it was copied to."""
    connection.execute(delete(sessions).where(sessions.c.key_hash == session.key_hash))


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
