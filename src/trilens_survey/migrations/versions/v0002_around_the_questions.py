"""Conditions, questions before and after, leaving, test runs, and screens of more than three."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    for column in (
        sa.Column("condition", sa.Text),
        sa.Column("test_run", sa.Integer, nullable=False, server_default="0"),
        sa.Column("enough", sa.Float),
        sa.Column("left", sa.Float),
    ):
        op.add_column("participants", column)
    op.add_column("assignments", sa.Column("further", sa.Text))
    op.add_column("answers", sa.Column("further", sa.Text))
    op.create_table(
        "forms",
        sa.Column(
            "participant",
            _ID,
            sa.ForeignKey("participants.id", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("form", sa.Text, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("stored", sa.Float, nullable=False),
    )
