"""The changes that a pass makes in a query's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.model.query.rewrites import RewriteRecord
from service.model.tables.sql import TextSpan
from service.pruning.sql_text.inject import TableSubstitution


@dataclass(frozen=True, slots=True)
class Pass:
    """The changes that one kind of rewrite makes, and their records.

    `substitutions` are by where in the text the name of the table ends. `edits` are other parts of the text
    to replace, each with its new text.
    """

    substitutions: Mapping[int, TableSubstitution] = field(default_factory=dict)
    edits: Mapping[TextSpan, str] = field(default_factory=dict)
    records: Sequence[RewriteRecord] = ()
