"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _id() -> sa.Column[int]:
    return sa.Column("id", _ID, primary_key=True)


def _to(table: str, name: str, *, needed: bool = True, cascade: bool = False) -> sa.Column[int]:
    action = "CASCADE" if cascade else None
    link = sa.ForeignKey(f"{table}.id", ondelete=action)
    return sa.Column(name, _ID, link, nullable=not needed)


def upgrade() -> None:
    text, real, whole = sa.Text, sa.Float, sa.Integer
    op.create_table(
        "settings",
        sa.Column("name", text, primary_key=True),
        sa.Column("value", text, nullable=False),
    )
    op.create_table(
        "designs",
        _id(),
        sa.Column("made", real, nullable=False),
        sa.Column("content", text, nullable=False, unique=True),
    )
    op.create_table("objects", _id(), sa.Column("name", text, nullable=False, unique=True))
    op.create_table(
        "participants",
        _id(),
        sa.Column("receipt", text, nullable=False, unique=True),
        sa.Column("rater", text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("language", text, nullable=False),
        sa.Column("consent_version", text, nullable=False),
        sa.Column("joined", real, nullable=False),
        sa.Column("round", whole, nullable=False),
        sa.Column("finished", real),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_participants_rater", "participants", ["rater"])
    op.create_table(
        "platform_ids",
        sa.Column(
            "participant",
            _ID,
            sa.ForeignKey("participants.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("platform_id", text, nullable=False),
    )
    op.create_table(
        "assignments",
        _id(),
        sa.Column("token", text, nullable=False, unique=True),
        _to("participants", "participant", cascade=True),
        _to("designs", "design"),
        sa.Column("round", whole, nullable=False),
        sa.Column("number", whole, nullable=False),
        sa.Column("of", whole, nullable=False),
        _to("objects", "a"),
        _to("objects", "b"),
        _to("objects", "c"),
        sa.Column("reason", text, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        _to("objects", "expected", needed=False),
        sa.UniqueConstraint("participant", "round", "number", name="one_question_per_number"),
    )
    op.create_table(
        "answers",
        sa.Column(
            "assignment",
            _ID,
            sa.ForeignKey("assignments.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        _to("objects", "chosen"),
        sa.Column("seconds", real),
        sa.Column("stored", real, nullable=False),
    )
    op.create_index("answers_by_time", "answers", ["stored"])
    op.create_table(
        "erasures",
        _id(),
        sa.Column("erased", real, nullable=False),
        sa.Column("answers", whole, nullable=False),
    )
    op.create_table(
        "sessions",
        sa.Column("key_hash", text, primary_key=True),
        sa.Column("csrf", text, nullable=False),
        sa.Column("ends", real, nullable=False),
    )
