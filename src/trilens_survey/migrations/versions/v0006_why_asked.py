"""Why a question was asked, by which model; questions that are ready; codes of before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("assignments", sa.Column("model", sa.Integer))
    op.create_table(
        "prepared",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("design", _ID, sa.ForeignKey("designs.id"), nullable=False),
        sa.Column("model", sa.Integer, nullable=False),
        *(sa.Column(x, _ID, sa.ForeignKey("objects.id"), nullable=False) for x in "abc"),
        sa.Column("made", sa.Float, nullable=False),
    )
    asked = sa.table("assignments", sa.column("reason"))
    for old, new in (("drawn", "random"), ("repeated", "repeat")):
        op.execute(sa.update(asked).where(asked.c.reason == old).values(reason=new))
    # the code that was given is not known of those who finished before codes were noted
    op.execute(
        "INSERT INTO payments (participant, code) SELECT p.id, 'not recorded' "
        "FROM participants p JOIN platform_ids i ON i.participant = p.id "
        "WHERE p.finished IS NOT NULL AND p.id NOT IN (SELECT participant FROM payments)"
    )
