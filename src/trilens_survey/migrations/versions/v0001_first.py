"""The tables of the first version, which a new database gets from `trilens_survey.schema`.

A later version adds a step that changes them, for the databases of before.
"""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing is older than this."""
