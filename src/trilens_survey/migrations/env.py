"""What Alembic runs: the steps, on the connection that it was given."""

from __future__ import annotations

from alembic import context

from trilens_survey.schema import metadata

if hasattr(context, "config"):  # else somebody imports this file to look at it
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()
