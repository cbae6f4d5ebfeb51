"""Small tables whose rows a query may read from the engine's memory instead of their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from service.model.filters.dynamic_filter import Build
from service.model.filters.joins import JoinGraph
from service.model.filters.relations import RelationQuery
from service.model.query.query import Parameters
from service.model.tables.tables import TableFacts
from service.pruning.build_side.build_query import BuildQuery, FactsOf, fingerprint
from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from service.pruning.conditions.renamed import all_readable, renamed_and_readable
from service.pruning.conditions.spelled import spelled

ALIAS = "t0"


@dataclass(frozen=True, slots=True)
class RelationAssignment:
    """Rows that may replace a table, and where the table's name ends in the text.

    The text keeps its conditions, so wider rows may replace the table, too.
    """

    query: RelationQuery
    reference_end: int

    def reading(self, fingerprint: str) -> RelationAssignment:
        """Returns the assignment of the rows with this fingerprint: of its own, or of the wider ones."""
        wider = self.query.wider
        return self if wider is None or wider.fingerprint != fingerprint else replace(self, query=wider)


@dataclass(frozen=True, slots=True)
class RelationContext:
    """Everything else that the rows depend on.

    `is_named` returns whether the text can mean a column of that name. `asks_for_files`: the query can tell
    from which file a row comes. `takes_wider`: rows that do not meet the text's conditions may be in memory,
    too.
    """

    facts_of: FactsOf
    is_named: Callable[[str], bool]
    max_rows: int
    parameters: Parameters
    session: Mapping[str, str]
    asks_for_files: bool = False
    takes_wider: bool = True


def local_relations(
    graph: JoinGraph, context: RelationContext, *, is_in_union: bool = False
) -> Iterator[RelationAssignment]:
    """Yields every table of a SELECT of which only few rows and columns matter.

    Rows that fail a condition on this table alone are left out, if every row of the SELECT meets it. Columns
    that the text does not name are left out. A relation that an outer join may replace by NULLs keeps all of
    its rows: one that is missing would let such a NULL in. A partitioned table in a branch of a union is read
    from its files: the engine may prune the scans of all branches because it finds partitions in that one.
    """
    for name, relation in graph.relations.items() if not context.asks_for_files else ():
        if not isinstance(relation, exp.Table):
            continue
        facts, end = context.facts_of(relation), relation.this.meta.get("end")
        if facts is None or end is None or (is_in_union and _is_partitioned(facts)):
            continue
        on_it = () if name in graph.null_supplied else graph.conditions_on(name)
        conditions = list(filter(is_safe_to_render, on_it))
        if conditions or facts.record_count <= context.max_rows:
            yield RelationAssignment(_with_wider(facts, name, conditions, context), end + 1)


def named_in(sql: str, tree: exp.Query) -> Callable[[str], bool]:
    """Returns a function that says whether the query can mean a column of a name.

    It can if the text has the name, or asks for all columns.

    >>> from sqlglot import parse_one
    >>> def is_named(sql, column):
    ...     return named_in(sql, parse_one(sql, read="spark"))(column)
    >>> is_named("SELECT D_Year FROM d", "d_year"), is_named("SELECT count(*) FROM d", "d_year")
    (True, False)
    >>> is_named("SELECT * FROM d", "d_year"), is_named("SELECT 1 FROM f NATURAL JOIN d", "d_year")
    (True, True)
    >>> is_named("SELECT `d``_year` FROM d", "d`_year")
    True
    """
    if any(_asks_for_all(node) for node in tree.walk()):
        return lambda _column: True
    text = sql.casefold()
    # A backtick in a name is written twice.
    return lambda column: column.casefold().replace("`", "``") in text or column.casefold() in text


def asks_for_files(sql: str) -> bool:
    """Whether the text may call `input_file_name` or a related function.

    >>> asks_for_files("SELECT INPUT_FILE_NAME() FROM d"), asks_for_files("SELECT d.file FROM d")
    (True, False)
    """
    return "input_file" in sql.casefold()


def reads_columns(star: exp.Star) -> bool:
    """Whether the star stands for columns, and not for rows as in `count(*)`.

    >>> from sqlglot import parse_one
    >>> texts = ["count(*)", "count(DISTINCT *)", "count(*, d.x)", "hash(*)"]
    >>> [reads_columns(parse_one(f"SELECT {text}", read="spark").find(exp.Star)) for text in texts]
    [False, True, True, True]
    """
    count = star.parent
    return not (isinstance(count, exp.Count) and count.this is star and not count.expressions)


def _is_partitioned(facts: TableFacts) -> bool:
    return bool(facts.partition_fields or facts.past_partition_fields)


def _asks_for_all(node: exp.Expr) -> bool:
    if isinstance(node, exp.Star):
        return reads_columns(node)
    if isinstance(node, exp.Join):
        return bool(node.args.get("method"))
    return isinstance(node, exp.Pivot | exp.Command)


def is_joined_by_the_select(table: exp.Table) -> bool:
    """Whether the table is not inside a join in parentheses, which may be an outer one."""
    return isinstance(table.parent, exp.From | exp.Join) and isinstance(table.parent.parent, exp.Select)


def _with_wider(
    facts: TableFacts, relation: str, conditions: Sequence[exp.Expr], context: RelationContext
) -> RelationQuery:
    """Returns the query for the rows, with that for all rows of a table that is known to have few."""
    query = _query(facts, relation, conditions, context)
    is_few = 0 < facts.record_count <= context.max_rows
    if not conditions or not is_few or not context.takes_wider:
        return query
    return replace(query, wider=_query(facts, relation, (), context))


def _query(
    facts: TableFacts, relation: str, conditions: Sequence[exp.Expr], context: RelationContext
) -> RelationQuery:
    names = [column.name for column in facts.columns]
    columns = [name for name in names if context.is_named(name)] or names[:1]
    # This runs for every table of a text. To render a tree for each would take most of detection's time.
    name = ".".join(map(_quoted, facts.name.parts))
    listed = ", ".join(f"`{ALIAS}`.{_quoted(column)}" for column in columns)
    sql = f"SELECT {listed} FROM {name} VERSION AS OF {facts.snapshot_id} AS `{ALIAS}`"
    said = [renamed_and_readable(condition, {relation: ALIAS}, is_of_one=True) for condition in conditions]
    if said:
        texts = sorted(spelled(condition, identify=True) for condition, _ in said)
        sql += " WHERE " + " AND ".join(f"({text})" for text in texts)
    parameters = {
        placeholder.name for condition in conditions for placeholder in condition.find_all(exp.Placeholder)
    }
    rows_of = Build(
        (facts.name,),
        tuple(columns),
        all_readable(said),
        (facts.snapshot_id,),
        is_restricted=facts.restriction.is_any,
    )
    identity = json.dumps([sql, facts.identity])
    asked = BuildQuery(sql, rows_of, frozenset(parameters), identity)
    key = fingerprint(asked, "rows", context.parameters, context.session)
    return RelationQuery(rows_of, sql, key, asked.parameter_names)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
