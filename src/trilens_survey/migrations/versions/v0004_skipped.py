"""Questions that could not be shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    cascade = sa.ForeignKey("assignments.id", ondelete="CASCADE")
    op.create_table(
        "skipped",
        sa.Column("assignment", _ID, cascade, primary_key=True, autoincrement=False),
        sa.Column(
            "object", _ID, sa.ForeignKey("objects.id"), primary_key=True, autoincrement=False
        ),
        sa.Column("stored", sa.Float, nullable=False),
    )
