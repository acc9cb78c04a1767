"""What is written and read about participants, questions and answers.

Every function takes a connection inside a transaction, and none commits: those that write are
handed to the `trilens_survey.writer.Writer`.
"""

from __future__ import annotations
