"""The query that collects a build side's keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from sqlglot import exp

from service.model.filtering import Build
from service.model.joins import ColumnOf, JoinGraph, Relation, own_columns
from service.model.query import Parameters
from service.model.tables import TableFacts

FINGERPRINT_VERSION = 1
# A chain of dimensions has three or four; the text of a query may have any number.
MAX_TABLES = 8

FactsOf = Callable[[exp.Table], TableFacts | None]
IsFaithful = Callable[[exp.Expr], bool]


@dataclass(frozen=True, slots=True)
class BuildQuery:
    """The keys' query as text, what it reads, and the text that two queries with the same keys share."""

    sql: str
    build: Build
    parameter_names: frozenset[str]
    identity: str


def build_query(
    graph: JoinGraph,
    key: ColumnOf,
    allowed: frozenset[str],
    facts_of: FactsOf,
    is_faithful: IsFaithful,
) -> BuildQuery | None:
    """Collects `key` from its relation and the `allowed` ones joined to it; None when nothing filters them.

    The set that it yields holds every key that a row of the SELECT can have: conditions that are not
    understood are left out, which only makes it larger. Tables are read at the snapshot of their facts.
    """
    conditions = [each for each in graph.conjuncts if is_faithful(each)]
    filters = [each for each in conditions if _is_filter(each)]
    filtered = {name for each in filters if len(names := _relations_in(each)) == 1 for name in names}
    parents = _tree(graph, key.relation, allowed)
    needed = _paths_to(filtered & parents.keys(), parents)
    if not needed:
        return None
    tables = {name: _table(graph.relations[name], facts_of) for name in needed}
    known = {name: table for name, table in tables.items() if table is not None}
    if len(known) < len(needed):
        return None
    joined = [each for each in conditions if _relations_in(each) and _relations_in(each) <= needed]
    return _rendered(key, known, joined, facts_of)


def fingerprint(
    query: BuildQuery, probe_type: str, parameters: Parameters, session: Mapping[str, str]
) -> str:
    """The address of the keys in the cache: it has everything that they were computed from."""
    values = parameters if isinstance(parameters, Mapping) else {}
    used = {
        name: [values[name].value, values[name].type_name] for name in query.parameter_names if name in values
    }
    parts = [FINGERPRINT_VERSION, query.identity, probe_type, used, dict(session)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_filtered(graph: JoinGraph, relation: str) -> bool:
    """Whether a condition on this relation alone removes rows of it."""
    return any(_is_filter(each) and _relations_in(each) == {relation} for each in graph.conjuncts)


def _is_filter(condition: exp.Expr) -> bool:
    """Whether it removes rows: that a key is there is no filter."""
    return not (isinstance(condition, exp.Not) and isinstance(condition.this.unnest(), exp.Is))


def _relations_in(condition: exp.Expr) -> frozenset[str]:
    return frozenset(each.table for each in own_columns(condition))


def _tree(graph: JoinGraph, root: str, allowed: frozenset[str]) -> dict[str, str | None]:
    """Each relation that is reached from the root, with the one before it on the shortest way."""
    parents: dict[str, str | None] = {root: None}
    queue = [root]
    while queue:
        here = queue.pop(0)
        for left, right in graph.equalities:
            for near, far in ((left.relation, right.relation), (right.relation, left.relation)):
                if near == here and far in allowed and far not in parents:
                    parents[far] = here
                    queue.append(far)
    return parents


def _paths_to(filtered: Set[str], parents: Mapping[str, str | None]) -> frozenset[str]:
    """The nearest of those that are filtered, with all between; more would only make the set smaller."""
    needed: frozenset[str] = frozenset()
    for each in parents:
        path = _path_to(each, parents) if each in filtered else needed
        if len(needed | path) <= MAX_TABLES:
            needed |= path
    return needed


def _path_to(name: str, parents: Mapping[str, str | None]) -> frozenset[str]:
    path: set[str] = set()
    step: str | None = name
    while step is not None:
        path.add(step)
        step = parents[step]
    return frozenset(path)


def _table(relation: Relation, facts_of: FactsOf) -> tuple[exp.Table, TableFacts] | None:
    if not isinstance(relation, exp.Table):
        return None
    facts = facts_of(relation)
    return None if facts is None else (relation, facts)


def _rendered(
    key: ColumnOf,
    tables: Mapping[str, tuple[exp.Table, TableFacts]],
    conditions: Sequence[exp.Expr],
    facts_of: FactsOf,
) -> BuildQuery:
    # Other names for the same relations must not make another query of it.
    others = sorted(tables.keys() - {key.relation}, key=lambda name: (str(tables[name][1].name), name))
    order = [key.relation, *others]
    alias = {name: f"t{position}" for position, name in enumerate(order)}
    named = {
        each.sql("spark", identify=True): each
        for each in (_renamed(each, alias, facts_of) for each in conditions)
    }
    column = exp.column(key.column, table=alias[key.relation], quoted=True)
    select = exp.select(exp.alias_(column, "k0")).distinct()
    select = select.from_(_pinned(tables[order[0]][1], alias[order[0]]))
    for name in others:
        select = select.join(_pinned(tables[name][1], alias[name]), join_type="cross")
    is_key = exp.not_(exp.Is(this=column.copy(), expression=exp.null()))
    select = select.where(*(named[text] for text in sorted(named)), is_key, copy=False)
    sql = select.sql("spark", identify=True)
    asked = [table for text in sorted(named) for table in named[text].find_all(exp.Table)]
    facts = [tables[name][1] for name in order]
    facts += [found for table in asked if (found := facts_of(table)) is not None]
    identity = json.dumps([sql, [str(each.table_uuid) for each in facts]])
    return BuildQuery(
        sql=sql,
        build=Build(
            tables=tuple(each.name for each in facts),
            columns=(key.column,),
            predicate=_readable(conditions, is_single=len(order) == 1),
            snapshot_ids=tuple(each.snapshot_id for each in facts),
        ),
        parameter_names=frozenset(
            each.name for condition in conditions for each in condition.find_all(exp.Placeholder)
        ),
        identity=identity,
    )


def _renamed(condition: exp.Expr, alias: Mapping[str, str], facts_of: FactsOf) -> exp.Expr:
    copy = condition.copy()
    for column in own_columns(copy):
        column.set("table", exp.to_identifier(alias[column.table]))
    for table in list(copy.find_all(exp.Table)):
        facts = facts_of(table)
        if facts is not None:
            table.replace(_pinned(facts, table.alias_or_name))
    return copy


def _pinned(facts: TableFacts, alias: str) -> exp.Table:
    version = exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(facts.snapshot_id or 0))
    # By the name that the catalog has: it may tell upper from lower case, which the tree does not.
    return exp.Table(
        this=exp.to_identifier(facts.name.table, quoted=True),
        db=exp.to_identifier(facts.name.schema, quoted=True),
        catalog=exp.to_identifier(facts.name.catalog, quoted=True),
        version=version,
        alias=exp.TableAlias(this=exp.to_identifier(alias)),
    )


def _readable(conditions: Sequence[exp.Expr], is_single: bool) -> str:
    shown = [each.copy() for each in conditions]
    if is_single:
        for condition in shown:
            for column in own_columns(condition):
                column.set("table", None)
    if len(shown) > 1:
        shown = [exp.paren(each) if isinstance(each, exp.Or) else each for each in shown]
    return " AND ".join(each.sql("spark") for each in shown)
