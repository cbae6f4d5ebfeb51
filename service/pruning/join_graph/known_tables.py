"""The facts of the tables that a query reads, and the types of the columns that come from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import ColumnOf, JoinGraph, Relation
from service.model.filters.keys import key_family
from service.model.tables.tables import NOW, TableAt, TableColumn, TableFacts
from service.pruning.conditions.literal_type import NULL_TYPE, common_type, literal_type
from service.pruning.join_graph.base_columns import BaseColumn, base_columns
from service.pruning.name_resolution.at_snapshots import snapshot_of
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.scan_layout.is_small_build import is_small_build

_OF_A_BARE_ONE = frozenset({"this", "db", "catalog", "alias", "version", "joins"})


class KnownTables:
    """The facts of a query's tables, by names in lower case: as they are now, and at snapshots."""

    def __init__(self, tables: Mapping[TableAt, TableFacts], max_build_rows: int) -> None:
        # Looked up a hundred times for one query: with plain tuples as keys, no name object has to be built.
        self._facts = {
            _place_of(table_at): facts for table_at, facts in tables.items() if is_readable_again(facts)
        }
        self._max_build_rows = max_build_rows

    def is_of_one_type(self, relation: Scope, column: str) -> bool:
        """Whether all columns that this one comes from have exactly the same type."""
        types = {self._base_type(base_column) for base_column in base_columns(relation, column) or ()}
        return len(types) == 1 and None not in types

    def _base_type(self, of: BaseColumn) -> str | None:
        if isinstance(of, exp.Expr):
            return literal_type(of)
        table, column = of
        facts = self.facts(table)
        field = None if facts is None else column_of(facts, column)
        return None if field is None else field.type_name

    def facts(self, table: exp.Table) -> TableFacts | None:
        """Returns the facts of a table that can be read again as it was; None for any other."""
        has_version = bool(table.args.get("version"))
        snapshot_id = snapshot_of(table) if has_version else None
        if has_version and snapshot_id is None:
            # It is read at a version whose snapshot is not known.
            return None
        return self._facts.get((table.catalog, table.db, table.name, snapshot_id))

    def build_facts(self, table: exp.Table) -> TableFacts | None:
        """Returns the facts of a table that keys may be collected from; None for any other."""
        facts = self.facts(table)
        if facts is None or not is_bare(table):
            return None
        return facts if is_small_build(facts, self._max_build_rows) else None

    def pinned_facts(self, table: exp.Table) -> TableFacts | None:
        """Returns the facts of such a table that also has snapshots; None for any other."""
        facts = self.build_facts(table)
        return None if facts is None or facts.snapshot_id is None else facts

    def family_in(self, graph: JoinGraph) -> Callable[[ColumnOf], str | None]:
        """Returns a function from a column to the family of its type; None when that is not known."""

        def family(column: ColumnOf) -> str | None:
            type_name = self.type_name(graph, column)
            return None if type_name is None else key_family(type_name)

        return family

    def type_name(self, graph: JoinGraph, column: ColumnOf) -> str | None:
        """Returns the type of a column of the graph, in Iceberg's spelling; None when it is not known."""
        relation = graph.relations.get(column.relation)
        return None if relation is None else self.type_in(relation, column.column)

    def type_in(self, relation: Relation, column: str) -> str | None:
        """Returns the type of the columns that this one comes from, if they are of one family; else None."""
        types = [self._base_type(base_column) for base_column in base_columns(relation, column) or ()]
        families = [
            type_name if type_name in (None, NULL_TYPE) else key_family(type_name) for type_name in types
        ]
        family = common_type(families)
        return types[families.index(family)] if family is not None else None


def _place_of(table: TableAt) -> tuple[str, str, str, int | str | None]:
    """Returns the parts of a table's name, and its snapshot's id; None stands for now."""
    version = None if table.version == NOW else table.version.value
    return table.name.catalog, table.name.schema, table.name.table, version


def is_bare(table: exp.Table) -> bool:
    """Whether only an alias and a version follow the name: no sample, and no names for columns.

    Joins in the same parentheses do not count.
    """
    return not any(value for key, value in table.args.items() if key not in _OF_A_BARE_ONE)


def column_of(facts: TableFacts, column: str) -> TableColumn | None:
    """Returns the table's column of a name in lower case; None if it has none."""
    return next((candidate for candidate in facts.columns if candidate.name.lower() == column), None)
