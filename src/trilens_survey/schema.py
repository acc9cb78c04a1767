"""The tables, the same on SQLite and PostgreSQL.

Times are seconds since 1970. Nothing in ``assignments`` or ``answers`` tells who a participant
is; what a platform calls a participant stands in ``platform_ids`` alone.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

#: SQLite numbers rows by themselves only in a column that is called INTEGER.
_ID = BigInteger().with_variant(Integer, "sqlite")


def _of(table: str, **more: Any) -> Column[int]:
    """The row that this one belongs to, and with which it is erased."""
    return Column(table[:-1], ForeignKey(f"{table}.id", ondelete="CASCADE"), **more)


#: The version of the tables: one row.
versions = Table("alembic_version", metadata, Column("version_num", Text, primary_key=True))

#: Keys, whether the study is open: one row each.
settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

#: What decided which questions were asked, as JSON; a new row when it changes.
designs = Table(
    "designs",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("made", Float, nullable=False),
    Column("content", Text, nullable=False),
    # once each: too long for an index of PostgreSQL, so whoever enters one takes turns
)

objects = Table(
    "objects",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

participants = Table(
    "participants",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("receipt", Text, nullable=False, unique=True),
    Column("rater", Text, nullable=False, index=True),
    Column("seed", BigInteger, nullable=False),
    Column("language", Text, nullable=False),
    Column("consent_version", Text, nullable=False),
    Column("joined", Float, nullable=False),
    Column("round", Integer, nullable=False),
    Column("finished", Float),
    # the condition that was drawn for the participant
    Column("condition", Text),
    # came by the researcher's test link: never part of the study
    Column("test_run", Integer, nullable=False, server_default="0"),
    # wanted no more rounds; what is asked after the last round comes between this and `finished`
    Column("enough", Float),
    # left before the end
    Column("left", Float),
    # first asked what to show: the receipt has reached them
    Column("seen", Float),
    # the number of somebody who was erased is given to nobody else
    sqlite_autoincrement=True,
)

#: The answers to the questions before and after the rounds, as JSON by name.
forms = Table(
    "forms",
    metadata,
    _of("participants", primary_key=True),
    Column("form", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("stored", Float, nullable=False),
)

#: What a platform needs to pay a participant; it is erased on a date of its own.
platform_ids = Table(
    "platform_ids",
    metadata,
    _of("participants", primary_key=True),
    Column("platform_id", Text, nullable=False),
    # that the participant was given
    Column("code", Text),
)

#: A question that was put to a participant; ``a``, ``b``, ``c`` in the order shown, and where
#: more than three were shown, the numbers of the others as a JSON list in ``further``.
assignments = Table(
    "assignments",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("token", Text, nullable=False, unique=True),
    _of("participants", nullable=False),
    Column("design", ForeignKey("designs.id"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("of", Integer, nullable=False),
    *(Column(name, ForeignKey("objects.id"), nullable=False) for name in "abc"),
    Column("reason", Text, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("expected", ForeignKey("objects.id")),
    Column("further", Text),
    # the version of the model that chose the question; 0 where one may still do so
    Column("model", Integer),
    UniqueConstraint("participant", "round", "number", name="one_question_per_number"),
)

#: Questions that a model has chosen and nobody was asked yet; for ``closer`` the anchor is ``a``.
prepared = Table(
    "prepared",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("design", ForeignKey("designs.id"), nullable=False),
    Column("model", Integer, nullable=False),
    *(Column(name, ForeignKey("objects.id"), nullable=False) for name in "abc"),
    Column("made", Float, nullable=False),
)

#: At most one per question, whoever sends it how often. Where several were to be chosen, the
#: others are a JSON list in ``further``.
answers = Table(
    "answers",
    metadata,
    _of("assignments", primary_key=True),
    Column("chosen", ForeignKey("objects.id"), nullable=False),
    Column("seconds", Float),
    Column("stored", Float, nullable=False),
    Column("further", Text),
    Index("answers_by_time", "stored"),
)

#: The objects of which no picture or sound came, so that the question was left out.
skipped = Table(
    "skipped",
    metadata,
    _of("assignments", primary_key=True),
    Column("object", ForeignKey("objects.id"), primary_key=True),
    Column("stored", Float, nullable=False),
)

#: That something was erased, and how much; not whose it was.
erasures = Table(
    "erasures",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("erased", Float, nullable=False),
    Column("answers", Integer, nullable=False),
)

#: The raters who were given a code: each holds a place, also after they were erased.
paid = Table("paid", metadata, Column("rater", Text, primary_key=True))

#: How often the page was opened by somebody who had not joined, in each hour since 1970.
visits = Table(
    "visits",
    metadata,
    Column("hour", Integer, primary_key=True, autoincrement=False),
    Column("opened", Integer, nullable=False),
)

#: Who may sign in, with the hash of their password.
researchers = Table(
    "researchers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password", Text, nullable=False),
    Column("made", Float, nullable=False),
)

#: What researchers did, and when.
log = Table(
    "log",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),
    Column("what", Text, nullable=False),
)

#: Researchers who are signed in, by the hash of their cookie's key.
sessions = Table(
    "sessions",
    metadata,
    Column("key_hash", Text, primary_key=True),
    Column("researcher", Text, nullable=False),
    Column("csrf", Text, nullable=False),
    Column("ends", Float, nullable=False),
)
