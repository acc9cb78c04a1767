"""Who was given a code, also after they were erased; and whose first reply came through."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("participants", sa.Column("seen", sa.Float))
    op.execute("UPDATE participants SET seen = joined")
    op.create_table("paid", sa.Column("rater", sa.Text, primary_key=True))
    op.execute(
        "INSERT INTO paid SELECT DISTINCT rater FROM participants "
        "WHERE test_run = 0 AND id IN (SELECT participant FROM codes)"
    )
