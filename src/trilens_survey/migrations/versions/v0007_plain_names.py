"""The log and the codes under plain names; decisions about payments leave."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.rename_table("deeds", "log")
    with op.batch_alter_table("log") as log:
        log.alter_column("done", new_column_name="at", existing_type=sa.Float())
    op.rename_table("payments", "codes")
    with op.batch_alter_table("codes") as codes:
        codes.drop_column("decision")
        codes.drop_column("decided")
