"""The fields that identify a table's rows, to those who see their values."""

from __future__ import annotations

from service.model.policies.decisions import Access
from service.model.tables.tables import TableFacts
from service.policies.shown_counts import masked_columns


def shown_identifier_fields(facts: TableFacts, access: Access) -> tuple[str, ...]:
    """Returns the table's identifier fields; none if the principal does not see the values of one.

    Rows with different keys may have the same masked value, and clients would take them for one row.
    """
    masked = masked_columns(access, facts)
    for name in facts.identifier_fields:
        # A column may have a dot in its name.
        if name.lower() in masked or name.partition(".")[0].lower() in masked:
            return ()
    return facts.identifier_fields
