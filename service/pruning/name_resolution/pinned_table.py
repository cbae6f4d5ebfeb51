"""A table at one snapshot, with the name that the gateway's own queries use."""

from __future__ import annotations

from sqlglot import exp

from service.model.tables.tables import TableFacts
from service.pruning.name_resolution.at_snapshots import at_snapshot


def pinned_table(facts: TableFacts, alias: str) -> exp.Table:
    """Returns the table at the snapshot of its facts, or as it is when it is read if it has no snapshots.

    The name is spelled as in the catalog, which may be case-sensitive; a query's tree is in lower case.
    A schema within a schema is one more part of the name, as in `spark_session.table_sql_name`.
    """
    catalog, schema, *below = (exp.to_identifier(part, quoted=True) for part in facts.name.parts)
    return exp.Table(
        this=below[0] if len(below) == 1 else exp.Dot.build(below),
        db=schema,
        catalog=catalog,
        version=None if facts.snapshot_id is None else at_snapshot(facts.snapshot_id),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )
