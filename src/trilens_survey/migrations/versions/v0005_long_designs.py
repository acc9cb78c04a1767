"""The design of a study with many objects is longer than an index of PostgreSQL can hold."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("designs_content_key", "designs", type_="unique")
