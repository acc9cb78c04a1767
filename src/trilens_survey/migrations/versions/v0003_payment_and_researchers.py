"""What was paid, who researches, what they did, and how often the page was opened."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    text, real, whole = sa.Text, sa.Float, sa.Integer
    op.create_table(
        "payments",
        sa.Column(
            "participant",
            _ID,
            sa.ForeignKey("participants.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("code", text),
        sa.Column("decision", text),
        sa.Column("decided", real),
    )
    researchers = op.create_table(
        "researchers",
        sa.Column("name", text, primary_key=True),
        sa.Column("password", text, nullable=False),
        sa.Column("made", real, nullable=False),
    )
    op.create_table(
        "deeds",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("done", real, nullable=False),
        sa.Column("who", text, nullable=False),
        sa.Column("what", text, nullable=False),
    )
    op.create_table(
        "visits",
        sa.Column("hour", whole, primary_key=True, autoincrement=False),
        sa.Column("opened", whole, nullable=False),
    )
    # the one password of before is that of the researcher called so; everybody signs in again
    settings = sa.table("settings", sa.column("name"), sa.column("value"))
    connection = op.get_bind()
    query = sa.select(settings.c.value).where(settings.c.name == "password")
    password = connection.execute(query).scalar()
    if password is not None:
        row = {"name": "researcher", "password": password, "made": time.time()}
        connection.execute(sa.insert(researchers), row)
        connection.execute(sa.delete(settings).where(settings.c.name == "password"))
    op.drop_table("sessions")
    op.create_table(
        "sessions",
        sa.Column("key_hash", text, primary_key=True),
        sa.Column("researcher", text, nullable=False),
        sa.Column("csrf", text, nullable=False),
        sa.Column("ends", real, nullable=False),
    )
