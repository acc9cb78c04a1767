"""The researcher's password: kept as an Argon2 hash, and there is no default."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import delete
from sqlalchemy.engine import Connection

from trilens.errors import SurveyError
from trilens.survey.ledger import look_setting, put_setting
from trilens.survey.schema import sessions

SHORTEST = 10
LONGEST = 200

#: OWASP's lower setting for Argon2id: 19 MiB and two passes.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def set_password(connection: Connection, password: str) -> None:
    """Keep a new password; everybody who is signed in is signed out."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise SurveyError(f"a password has {SHORTEST} to {LONGEST} characters")
    put_setting(connection, "password", _hasher.hash(password))
    put_setting(connection, "first_key", None)
    connection.execute(delete(sessions))


def has_password(connection: Connection) -> bool:
    """Whether one was ever set."""
    return look_setting(connection, "password") is not None


def matches(stored: str | None, password: str) -> bool:
    """Whether this is the password; takes its time on purpose."""
    if stored is None or len(password) > LONGEST:
        return False
    try:
        return _hasher.verify(stored, password)
    except (Argon2Error, InvalidHashError):
        return False
