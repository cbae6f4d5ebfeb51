"""A table at one snapshot, as the gateway's own queries name it."""

from __future__ import annotations

from sqlglot import exp

from service.model.tables.tables import TableFacts
from service.pruning.name_resolution.at_snapshots import at_snapshot


def pinned_table(facts: TableFacts, alias: str) -> exp.Table:
    """The table at the snapshot of its facts; as it is then, if it has no snapshots.

    It is named as the catalog has it: that may tell upper from lower case, which a query's tree does not.
    A schema within a schema is a name of its own, as `spark_session.table_sql_name` has it.
    """
    catalog, schema, *below = (exp.to_identifier(each, quoted=True) for each in facts.name.parts)
    return exp.Table(
        this=below[0] if len(below) == 1 else exp.Dot.build(below),
        db=schema,
        catalog=catalog,
        version=None if facts.snapshot_id is None else at_snapshot(facts.snapshot_id),
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )
