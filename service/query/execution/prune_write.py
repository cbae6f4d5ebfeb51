"""Prunes the scans of a statement that writes, where that is proven to change the same rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.model.filters.filter_record import Reason
from service.model.query.query import QueryRequest
from service.model.query.rewrites import RewriteKind
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.model.writes.writes import Write, WriteKind
from service.ports.tables.catalogs import Catalogs
from service.pruning.sql_text.change_text import change_text
from service.pruning.sql_text.written_query import written_query
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_change import PrunedWrite, names_read
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.unpinned import UnpinnedTables
from service.query.registry.query_handle import QueryHandle

# Others need rows in memory, or settings of the engine that writes are not run with.
_REWRITES = frozenset({RewriteKind.READ_OPTIONS, RewriteKind.VIEW_EXPANDED})
_OF_QUERIES = frozenset(
    {
        WriteKind.INSERT,
        WriteKind.INSERT_OVERWRITE,
        WriteKind.CREATE_TABLE_AS,
        WriteKind.REPLACE_TABLE_AS,
    }
)


@dataclass(frozen=True, slots=True)
class WritePruning:
    """Prunes one statement. It runs as it is written for the reason `unpruned`, if there is one."""

    query: QueryHandle
    pruner: Pruner
    catalogs: Catalogs
    unpruned: Reason | None

    def prune(self) -> PrunedWrite:
        """Returns the statement with its scans pruned, as far as that is possible and pays."""
        query, sql = self.query, self.query.text.sql
        if self.unpruned is not None:
            return PrunedWrite(PrunedQuery(sql, otherwise=self.unpruned))
        asked = replace(query.request, sql=sql)
        begins = written_query(sql)
        if begins is not None:
            return self._of_query(asked, begins)
        text = change_text(sql)
        if text is None:
            return PrunedWrite(PrunedQuery(sql, otherwise=Reason.NOT_A_QUERY))
        return self.pruner.prune_change(asked, text, query.access, query.is_canceled)

    def is_as_pruned(self, pruned: PrunedWrite, write: Write) -> bool:
        """Whether the engine is about to do what the statement was pruned for.

        The engine's own reading of the text is compared: what it is, which tables it reads, and which one it
        changes. A table that rows are added to must not be read at an earlier snapshot. The table that is
        changed must have the columns and the layout that predicates on it were made for, whatever rows it has
        by now.
        """
        target = write.table.in_lower_case()
        reads = {TableName.of(name).in_lower_case() for name in write.reads}
        if write.kind not in pruned.kinds or not reads <= pruned.reads:
            return False
        before = pruned.changed
        if before is None:
            return target not in pruned.reads
        if before.name.in_lower_case() != target:
            return False
        asked = TableAt(before.name)
        now = self.catalogs.facts_of([asked]).get(asked)
        return now is not None and _layout(now) == _layout(before)

    def _of_query(self, asked: QueryRequest, begins: int) -> PrunedWrite:
        """Prunes the query whose rows are written. Its text stands alone, after the rest of the statement."""
        head, sql = asked.sql[:begins], asked.sql[begins:]
        allowed = frozenset(filter(asked.pruning.allows, _REWRITES))
        pruned = self.pruner.prune(
            replace(asked, sql=sql, pruning=replace(asked.pruning, rewrites=allowed)),
            self.query.access,
            self.query.is_canceled,
            takes_late=False,
        )
        if pruned.rewritten_sql is None:
            return PrunedWrite(replace(pruned, sql=asked.sql))
        if pruned.relations or pruned.unpinned != UnpinnedTables():
            # Only after it has run is it known whether such a table has changed, and a write runs once.
            return PrunedWrite(pruned.as_written(asked.sql, Reason.SOURCE_NOT_SUPPORTED))
        written = head + pruned.rewritten_sql
        # It is not compared with a run of the pinned text: that would write, too.
        pruned = replace(pruned, sql=written, rewritten_sql=written, pinned_sql=None, expanded_sql=None)
        return PrunedWrite(pruned, _OF_QUERIES, names_read(pruned))


def _layout(facts: TableFacts) -> tuple[object, ...]:
    return (
        facts.table_uuid,
        facts.schema_id,
        facts.columns,
        facts.partition_fields,
        facts.past_partition_fields,
        facts.has_imported_files,
        facts.widened_columns,
        facts.source,
        facts.merge_on_read,
        facts.has_one_spec,
    )
