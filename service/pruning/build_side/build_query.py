"""The query that collects a build side's keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlglot import exp

from service.model.filters.dynamic_filter import Build
from service.model.filters.joins import ColumnOf, InlineTable, JoinGraph, Relation
from service.model.query.query import Parameters
from service.model.tables.tables import TableFacts
from service.pruning.conditions.normal_conjuncts import normal_conjuncts
from service.pruning.conditions.renamed import all_readable, renamed_and_readable
from service.pruning.conditions.spelled import spelled
from service.pruning.join_graph.join_paths import paths_to, reached
from service.pruning.name_resolution.pinned_table import pinned_table

E = TypeVar("E", bound=exp.Expr)

FINGERPRINT_VERSION = 3

FactsOf = Callable[[exp.Table], TableFacts | None]


@dataclass(frozen=True, slots=True)
class BuildQuery:
    """The query for keys as text, what it reads, and the `identity` that queries with the same keys share.

    `series` is the identity without the snapshots: queries share it that differ only in these. `family` is
    the series without the conditions; it is empty unless the query reads one table, whose columns
    `table_columns` names. `aliases` are the names that its relations have in it.
    """

    sql: str
    build: Build
    parameter_names: frozenset[str]
    identity: str
    series: str = ""
    family: str = ""
    table_columns: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


def build_query(
    graph: JoinGraph,
    keys: Sequence[ColumnOf],
    allowed: frozenset[str],
    facts_of: FactsOf,
    is_null_safe: bool = False,
    *,
    is_whole: bool = False,
) -> BuildQuery | None:
    """Returns the query for keys, from their relation and `allowed` ones; None if nothing filters them.

    If it `is_whole`, nothing has to filter them: the keys may be all that the relation has. Several keys are
    collected as tuples, each from one row. NULL is not a key, unless `is_null_safe`. The
    conjuncts of `graph` must be safe to render. The query yields every key that a row of the SELECT can have.
    It reads tables at the snapshot of their facts.
    """
    needed = build_relations(graph, keys, allowed, is_whole=is_whole)
    sources = {name: _source(graph.relations[name], facts_of) for name in needed}
    known = {name: source for name, source in sources.items() if source is not None}
    if not needed or len(known) < len(needed):
        return None
    return _rendered(keys, known, graph.conditions_within(needed), facts_of, is_null_safe)


def build_relations(
    graph: JoinGraph, keys: Sequence[ColumnOf], allowed: frozenset[str], *, is_whole: bool = False
) -> frozenset[str]:
    """Returns the relations that such a query reads; none when nothing filters the keys, but has to."""
    of_keys = {key.relation for key in keys}
    parents = reached(graph, keys[0].relation, allowed)
    filtered = (graph.filtered | (of_keys if is_whole else frozenset())) & parents.keys()
    needed = paths_to(filtered | of_keys if filtered else frozenset(), parents)
    return needed if of_keys <= needed and not needed.isdisjoint(filtered) else frozenset()


def fingerprint(
    query: BuildQuery, probe_type: str, parameters: Parameters, session: Mapping[str, str]
) -> str:
    """Returns the address of the keys in the cache: a hash of everything that they are computed from."""
    return _hashed(query.identity, query, probe_type, parameters, session)


def series_of(query: BuildQuery, probe_type: str, parameters: Parameters, session: Mapping[str, str]) -> str:
    """Returns the same hash without the snapshots of the tables; empty if the query is of no series."""
    return query.series and _hashed(query.series, query, probe_type, parameters, session)


def family_of(query: BuildQuery, probe_type: str, session: Mapping[str, str]) -> str:
    """Returns the same hash without the snapshot and the conditions; empty if the query is of no family."""
    return query.family and _hashed(
        query.family, replace(query, parameter_names=frozenset()), probe_type, (), session
    )


def _hashed(
    identity: str, query: BuildQuery, probe_type: str, parameters: Parameters, session: Mapping[str, str]
) -> str:
    values = parameters if isinstance(parameters, Mapping) else {}
    used = {
        name: [values[name].value, values[name].type_name] for name in query.parameter_names if name in values
    }
    parts = [FINGERPRINT_VERSION, identity, probe_type, used, dict(session)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Source:
    """A relation as the query for the keys reads it, and the tables below it."""

    label: str
    facts: tuple[TableFacts, ...]
    query: exp.Query | None = None
    rows: InlineTable | None = None

    def named(self, alias: str) -> exp.Expr:
        if self.query is None:
            return pinned_table(self.facts[0], alias)
        return self.query.subquery(alias)


def _source(relation: Relation, facts_of: FactsOf) -> _Source | None:
    match relation:
        case exp.Table():
            facts = facts_of(relation)
            return None if facts is None else _Source(str(facts.name), (facts,))
        case InlineTable():
            query, read = _all_pinned(relation.query.copy(), facts_of)
            return _Source(query.sql("spark", identify=True), read, query, relation)
        case _:
            return None


def _rendered(
    keys: Sequence[ColumnOf],
    sources: Mapping[str, _Source],
    conditions: Sequence[exp.Expr],
    facts_of: FactsOf,
    is_null_safe: bool,
) -> BuildQuery:
    # Other names for the same relations must not change the query.
    first = keys[0].relation
    others = sorted(sources.keys() - {first}, key=lambda name: (sources[name].label, name))
    order = [first, *others]
    alias = {name: f"t{position}" for position, name in enumerate(order)}
    is_single = len(order) == 1
    said = [renamed_and_readable(condition, alias, is_of_one=is_single) for condition in conditions]
    found = [_all_pinned(condition, facts_of) for condition, _ in said]
    named = {_conjunct(condition): read for condition, read in found}
    columns = [exp.column(key.column, table=alias[key.relation], quoted=True) for key in keys]
    named_keys = (exp.alias_(column, f"k{position}") for position, column in enumerate(columns))
    select = exp.select(*named_keys, copy=False).distinct(copy=False)
    select.from_(sources[first].named(alias[first]), copy=False)
    for name in others:
        select.join(sources[name].named(alias[name]), join_type="cross", copy=False)
    read = spelled(select, identify=True)
    never_null = () if is_null_safe else columns
    are_keys = [f"NOT {spelled(column, identify=True)} IS NULL" for column in never_null]
    # A condition may keep the next from failing, so they keep their order; the identity sorts them.
    sql = f"{read} WHERE {' AND '.join([*named, *are_keys]) or 'TRUE'}"
    facts = [fact for name in order for fact in sources[name].facts]
    facts += [facts for text in sorted(named) for facts in named[text]]
    normal = sorted({text for condition, _ in found for text in normal_conjuncts(condition)})
    identity = json.dumps([read, normal, are_keys, [fact.identity for fact in facts]])
    at_any = {text for condition, _ in found for text in normal_conjuncts(_at_any_snapshot(condition))}
    read_at_any = spelled(_at_any_snapshot(select), identify=True)
    named_identities = sorted(f"{fact.name} {fact.identity}" for fact in facts)
    series = json.dumps([read_at_any, sorted(at_any), are_keys, named_identities])
    queries = [source.rows.query for source in sources.values() if source.rows is not None]
    is_of_table = len(facts) == 1 and sources[first].query is None
    return BuildQuery(
        sql=sql,
        build=Build(
            tables=tuple(fact.name for fact in facts),
            columns=tuple(key.column for key in keys),
            predicate=all_readable([*said, *((query, f"({query.sql('spark')})") for query in queries)]),
            snapshot_ids=tuple(fact.snapshot_id for fact in facts),
            is_restricted=any(fact.restriction.is_any for fact in facts),
        ),
        parameter_names=frozenset(
            placeholder.name
            for said in (*conditions, *queries)
            for placeholder in said.find_all(exp.Placeholder)
        ),
        identity=identity,
        series=series,
        family=json.dumps([read_at_any, are_keys, named_identities]) if is_of_table else "",
        table_columns=tuple(column.name for column in facts[0].columns) if is_of_table else (),
        aliases=alias,
    )


def _conjunct(condition: exp.Expr) -> str:
    text = spelled(condition, identify=True)
    return f"({text})" if isinstance(condition, exp.Connector) else text


def _at_any_snapshot(expression: E) -> E:
    """Returns a copy that names no snapshot."""
    copied = expression.copy()
    for table in copied.find_all(exp.Table):
        table.set("version", None)
    return copied


def _all_pinned(expression: E, facts_of: FactsOf) -> tuple[E, tuple[TableFacts, ...]]:
    """Changes the expression to read its tables at their snapshots; returns it and the facts of each."""
    read: list[TableFacts] = []
    for table in list(expression.find_all(exp.Table)):
        facts = facts_of(table)
        if facts is not None:
            pinned = pinned_table(facts, table.alias_or_name)
            pinned.set("joins", table.args.get("joins"))
            table.replace(pinned)
            read.append(facts)
    return expression, tuple(read)
