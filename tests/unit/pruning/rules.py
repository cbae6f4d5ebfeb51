"""Each rule as a function from a fixture's input text to its expected text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp, parse_one
from sqlglot.optimizer.scope import Scope, build_scope

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import Build, JoinType, KeyDependency, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.joins import Candidate, ColumnOf, FlattenedGraph, InlineTable, JoinGraph, Relation
from service.model.filters.key_set import DynamicFilteringData, KeyValue
from service.model.filters.keys import key_family
from service.model.tables.tables import NOW, TableAt, TableFacts, TableName
from service.model.tables.views import View, ViewColumn
from service.pruning.build_side.affordable_build import affordable_build as affordable_relations
from service.pruning.build_side.build_query import BuildQuery, build_relations
from service.pruning.build_side.build_query import build_query as rendered_build_query
from service.pruning.build_side.chained_query import chained_query as rewritten_query
from service.pruning.build_side.composite_keys import FoundKey
from service.pruning.build_side.composite_keys import composite_keys as composed_keys
from service.pruning.build_side.converted_query import converted_query as keys_query
from service.pruning.build_side.is_chosen_otherwise import is_chosen_otherwise as is_select_chosen_otherwise
from service.pruning.build_side.key_dependencies import key_dependencies as feeding_queries
from service.pruning.build_side.range_queries import stripes_query
from service.pruning.candidates.computed_join import computed_join as computed_candidates
from service.pruning.candidates.converted_join import converted_join as converted_candidates
from service.pruning.candidates.inner_join import inner_join as inner_candidates
from service.pruning.candidates.key_conversion import key_conversion as converted_keys
from service.pruning.candidates.key_type import key_type as type_of_key
from service.pruning.candidates.null_safe_join import null_safe_join as null_safe_candidates
from service.pruning.candidates.outer_join import outer_join as outer_candidates
from service.pruning.candidates.semi_join import semi_join as semi_candidates
from service.pruning.candidates.unwrap_cast import unwrap_cast as unwrapped
from service.pruning.conditions.bounded_clock import bounded_clock as bounded_condition
from service.pruning.conditions.effective_joins import WrittenJoin
from service.pruning.conditions.effective_joins import effective_joins as joined_in_effect
from service.pruning.conditions.fold_current_date import fold_current_date as dated_condition
from service.pruning.conditions.implied_conjuncts import implied_conjuncts as conjuncts_of
from service.pruning.conditions.is_nondeterministic import is_nondeterministic as is_query_free_to_differ
from service.pruning.conditions.is_safe_to_render import is_safe_to_render as is_condition_faithful
from service.pruning.conditions.is_uncorrelated import is_uncorrelated as is_alone
from service.pruning.conditions.literal_type import literal_type as type_of_literal
from service.pruning.conditions.rejected_nulls import null_rejecting_columns as relations_without_nulls
from service.pruning.detect import detect as detected
from service.pruning.detection import DetectionContext
from service.pruning.join_graph.column_classes import column_classes
from service.pruning.join_graph.condition_pushdown import pushed_down
from service.pruning.join_graph.filter_pushdown import (
    Place,
    PushdownContext,
    Source,
    pushdown_targets,
)
from service.pruning.join_graph.flatten_relations import flatten_relations as flattened_relations
from service.pruning.join_graph.flattened_columns import has_rows_of_its_joins, projections
from service.pruning.join_graph.inline_table import inline_table as rows_written
from service.pruning.join_graph.join_conditions import join_conditions as conditions_of_joins
from service.pruning.join_graph.join_graph import join_graph as joined
from service.pruning.join_graph.join_graphs import join_graphs as graphs_of
from service.pruning.join_graph.joined_select import JoinedSelect
from service.pruning.join_graph.known_tables import KnownTables
from service.pruning.name_resolution.ambiguous_tables import ambiguous_tables as found_ambiguous
from service.pruning.name_resolution.is_supported_syntax import is_supported_syntax as is_query_understood
from service.pruning.name_resolution.matches_spark_resolution import (
    matches_spark_resolution as are_names_resolved_alike,
)
from service.pruning.name_resolution.qualify import qualify as qualified
from service.pruning.predicates.composite_predicate import TupleBounds
from service.pruning.predicates.composite_predicate import composite_predicate as composed_predicate
from service.pruning.predicates.predicate import predicate as formed_predicate
from service.pruning.rewrites.local_relations import named_in
from service.pruning.sql_text.expand_views import expand_views as with_views_open
from service.pruning.sql_text.expand_views import view_select
from service.pruning.sql_text.inject import TableSubstitution
from service.pruning.sql_text.inject import inject as injected
from service.pruning.sql_text.is_replaceable import is_replaceable as are_tables_replaceable
from service.pruning.sql_text.metadata_names import metadata_names as names_with_versions
from service.pruning.sql_text.number_placeholders import number_placeholders as numbered_placeholders
from service.pruning.sql_text.parse import parse as parsed_query
from service.pruning.sql_text.table_names import table_names as names_of
from service.pruning.sql_text.view_text import view_text as text_of_view
from tests.unit.pruning.tables import TABLES

NOTHING = "nothing"


def parse(sql: str) -> str:
    """Lists each table reference: its text, and what it has besides an alias.

    The session's time zone is Europe/Zurich.
    """
    parsed = parsed_query(sql, "Europe/Zurich")
    if parsed is None:
        return "not a query"
    return _listed(
        sql[reference.start : reference.end]
        + ("" if reference.version == NOW else f" at {reference.version.kind} {reference.version.value}")
        + ("" if reference.is_plain else " and more")
        + ("" if reference.has_known_version else ", perhaps of another time")
        for reference in parsed.references
    )


def table_names(sql: str) -> str:
    parsed = parsed_query(sql)
    assert parsed is not None
    catalogs = frozenset({"lake", "rest"})
    parsed = names_with_versions(parsed, catalogs, "lake")
    names = names_of(parsed, catalogs, "lake", "shop")
    return _listed(
        f"{sql[reference.start : reference.end]} is {names[reference.end].name}"
        + ("" if reference.version == NOW else f" at {reference.version.kind} {reference.version.value}")
        + (f", unless there is {names[reference.end].unless}" if reference.selector else "")
        for reference in parsed.references
        if reference.end in names
    )


def view_text(sql: str) -> str:
    """Rewrites the text of a view at lake.views."""
    parsed = parsed_query(sql)
    assert parsed is not None
    view = View(TableName("lake", "shop", "v"), sql, "lake", ("views",), ())
    text = text_of_view(parsed, view, {"lake", "rest"})
    return "not for every place" if text is None else text


def expand_views(sql: str) -> str:
    """Expands `v`, a view of two columns, in a query at lake.shop."""
    parsed = parsed_query(sql)
    assert parsed is not None
    name = TableName("lake", "shop", "v")
    view = View(name, "", "lake", (), (ViewColumn("k", "int"), ViewColumn("a`b", "int")))
    names = names_of(parsed, frozenset({"lake"}), "lake", "shop")
    text = with_views_open(parsed, names, {name: view_select(view, "SELECT 1, 2")})
    return "too long" if text is None else text


def qualify(sql: str) -> str:
    tree = _qualified(sql)
    return "not understood" if tree is None else tree.sql("spark")


def is_supported_syntax(sql: str) -> str:
    parsed = parsed_query(sql)
    assert parsed is not None
    return "understood" if is_query_understood(parsed.tree) else "not understood"


def matches_spark_resolution(sql: str) -> str:
    """Checks name resolution. `note` of `returns` may be a struct; the columns of `unknown` are not known."""
    tree = _qualified(sql)
    root = None if tree is None else build_scope(tree)
    if root is None:
        return "not understood"
    return "resolved alike" if are_names_resolved_alike(root, _facts) else "not understood"


def is_replaceable(sql: str) -> str:
    parsed = parsed_query(sql)
    assert parsed is not None
    return "replaceable" if are_tables_replaceable(parsed.tree) else "left alone"


def is_nondeterministic(sql: str) -> str:
    parsed = parsed_query(sql)
    assert parsed is not None
    return "free to differ" if is_query_free_to_differ(parsed.tree) else "same rows each time"


def join_graph(sql: str) -> str:
    graph = joined(_scope(sql))
    if graph is None:
        return "not understood"
    implied = "; ".join(conjunct.sql("spark") for conjunct in graph.conjuncts) or NOTHING
    rejected = f"\nNULLs are dropped: {', '.join(sorted(graph.null_rejected))}" if graph.null_rejected else ""
    return f"holds: {implied}\nmay be NULLs: {', '.join(sorted(graph.null_supplied)) or NOTHING}{rejected}"


def null_rejecting_columns(condition: str) -> str:
    return _listed(sorted(relations_without_nulls(parse_one(condition, read="spark"))))


def effective_joins(sql: str) -> str:
    """Lists the effective type of each join, in text order."""
    select = parse_one(sql, read="spark")

    def on_of(join: exp.Expr) -> list[exp.Expr]:
        return [join.args["on"]] if join.args.get("on") else []

    joins = [
        WrittenJoin(_JOIN_TYPES[f"{join.side} {join.kind}".strip()], join.alias_or_name, on_of(join))
        for join in select.args["joins"]
    ]
    where = select.args.get("where")
    found = joined_in_effect(select.args["from_"].alias_or_name, joins, [where.this] if where else [])
    return _listed(f"{join.added}: {join_type}" for join, join_type in zip(joins, found, strict=True))


_JOIN_TYPES = {
    "": JoinType.INNER,
    "CROSS": JoinType.INNER,
    "LEFT": JoinType.LEFT_OUTER,
    "RIGHT": JoinType.RIGHT_OUTER,
    "FULL": JoinType.FULL_OUTER,
    "LEFT SEMI": JoinType.LEFT_SEMI,
    "LEFT ANTI": JoinType.LEFT_ANTI,
}


def _joined_select(sql: str) -> JoinedSelect:
    scope = _scope(sql)
    graph = _graph(scope)
    return JoinedSelect(scope, graph, _classes(graph), joined)


def inner_join(sql: str) -> str:
    return _candidates(inner_candidates(_joined_select(sql)))


def outer_join(sql: str) -> str:
    return _candidates(outer_candidates(_joined_select(sql)))


def semi_join(sql: str) -> str:
    return _candidates(semi_candidates(_joined_select(sql)))


def null_safe_join(sql: str) -> str:
    return _candidates(null_safe_candidates(_joined_select(sql)))


def lineage(sql: str) -> str:
    """Lists the columns that a filter on column `day_key` of relation `r` is pushed down to."""
    scope = _scope(sql)
    references = scope.ref_count()
    place = Place(scope, "r", scope.selected_sources["r"][1])
    context = PushdownContext(lambda inner: _classes(_graph(inner)), lambda inner: references[id(inner)])
    return _listed(map(_lineage_of, pushdown_targets(place, "day_key", context)))


def _lineage_of(source: Source) -> str:
    rejection = f": {source.rejection}" if source.rejection else ""
    reading = source.reading
    shared = f", by one of {reading.count}: {reading.relation}" if reading else ""
    return f"{source.table.name}.{source.column}{rejection}{shared}"


def build_query(sql: str) -> str:
    """Renders the query for the possible keys of column `day_key` of relation `d`."""
    graph = _graph(_scope(sql))
    faithful = replace(graph, conjuncts=tuple(filter(is_condition_faithful, graph.conjuncts)))
    allowed = frozenset(graph.relations.keys() - {"f"})
    query = rendered_build_query(faithful, [ColumnOf("d", "day_key")], allowed, _facts)
    return NOTHING if query is None else query.sql


def affordable_build(sql: str) -> str:
    """Lists the tables to read for the keys of `d.day_key`, within a cost of three tables of ten files."""
    graph = _graph(_scope(sql))
    key, allowed = ColumnOf("d", "day_key"), frozenset(graph.relations.keys() - {"f"})
    probe = replace(
        TABLES[TableAt(TableName("lake", "shop", "sales"))], total_bytes=60_000, data_file_count=60
    )
    fewer = affordable_relations(graph, key, allowed, probe, KnownTables(TABLES, 1000).facts)
    if fewer is None:
        return NOTHING
    return ", ".join(sorted(build_relations(graph, [key], fewer)))


def flatten_relations(sql: str) -> str:
    """Lists tables and conditions after derived tables are flattened."""
    graph = _flattened(_scope(sql)).graph
    implied = "; ".join(conjunct.sql("spark") for conjunct in graph.conjuncts) or NOTHING
    return f"reads: {', '.join(sorted(graph.relations))}\nholds: {implied}"


def inline_table(sql: str) -> str:
    """Renders the rows of relation `d` as a query, and says whether they are all or only some."""
    written = _written(_scope(sql).sources["d"])
    if written is None:
        return NOTHING
    return f"{'some' if written.is_filtered else 'all'}: {written.query.sql('spark')}"


def literal_type(expression: str) -> str:
    return type_of_literal(parse_one(expression, read="spark")) or "unknown"


def join_graphs(sql: str) -> str:
    """Lists the conditions in the SELECT that joins `sales`, including those pushed into it from outside."""
    scope = _scope(sql)
    graphs = graphs_of(
        scope,
        scope.ref_count(),
        joined,
        lambda relation, asked: pushed_down(relation, asked, lambda _, column: column != "mixed"),
    )
    found = (
        f"holds: {'; '.join(conjunct.sql('spark') for conjunct in graph.conjuncts)}"
        for graph in graphs.values()
        if graph is not None and "f" in graph.relations
    )
    return _listed(found)


def join_conditions(sql: str) -> str:
    """Lists the conditions that joins put on relation `r`; columns named `other` have another type."""
    found = conditions_of_joins(
        "r",
        _graph(_scope(sql)),
        lambda one, two: "other" not in (one.column, two.column),
        is_condition_faithful,
    )
    return _listed(condition.sql("spark") for condition in found)


def fold_current_date(sql: str) -> str:
    """Folds the current date into a condition: the last day of February 2000, or the day after it."""
    condition = dated_condition(parse_one(sql, read="spark"), [date(2000, 2, 29), date(2000, 3, 1)])
    return condition.sql("spark")


def bounded_clock(sql: str) -> str:
    """Bounds the clock, which is on the last day of February 2000 or on the next day."""
    condition = bounded_condition(parse_one(sql, read="spark"), [date(2000, 2, 29), date(2000, 3, 1)])
    return condition.sql("spark")


def number_placeholders(sql: str) -> str:
    parsed = parsed_query(sql)
    assert parsed is not None
    return numbered_placeholders(parsed).sql("spark")


def predicate(text: str) -> str:
    """Forms a condition on `k` of `type: value, value`: five in a list, seven in lists, at most 3 ranges."""
    type_name, _, values = text.partition(": ")
    keys = [(_value(type_name, part),) for part in values.split(", ") if part]
    formed = formed_predicate("k", type_name, keys, max_in_list=5, max_ranges=3, max_listed=7)
    return f"{formed.form}: {formed.condition.sql('spark')}"


def composite_predicate(text: str) -> str:
    """Forms `a b, a b` into a condition on columns `a` and `b`: at most eight values, three alternatives.

    Text after a bar lists the values that column `b` holds.
    """
    tuples, _, listed = text.partition(" | ")
    keys = [tuple(int(value) for value in part.split()) for part in tuples.split(", ")]
    values = tuple(int(part) for part in listed.split())
    probe = Probe(TableName("lake", "shop", "t"), ("a", "b"), ("int", "int"), 1)
    column_values = ColumnValues(values, min(values), max(values), is_clustered=True) if values else None
    formed = composed_predicate(probe, keys, [None, column_values], TupleBounds(max_parts=3, max_values=8))
    return formed if isinstance(formed, Reason) else f"{formed.form}: {formed.condition.sql('spark')}"


def chained_query(text: str) -> str:
    """Filters a query by keys of column `k` of `t1`, in at most three ranges."""
    sql, _, values = text.partition(" | ")
    keys = DynamicFilteringData(tuple((int(part),) for part in values.split()), is_filtering=True)
    return rewritten_query(sql, [(KeyDependency("", "t1", "k", "int"), keys)], max_ranges=3)


def inject(sql: str) -> str:
    """Filters tables named `sales` or `sal`es` by `day_key = 7`, and pins those named `calendar`.

    Tables named `logs` and `kinds` have no snapshots; `logs` is filtered too.
    """
    parsed = parsed_query(sql, "UTC")
    assert parsed is not None
    to_seven = exp.EQ(this=exp.column("day_key", quoted=True), expression=exp.Literal.number(7))
    filtered = TableSubstitution(1, (to_seven,))
    how = {"sales": filtered, "sal`es": filtered, "calendar": TableSubstitution(3)}
    how |= {"logs": TableSubstitution(None, (to_seven,)), "kinds": TableSubstitution(None)}
    return injected(
        parsed,
        {
            reference.end: how[reference.parts[-1]]
            for reference in parsed.references
            if reference.parts[-1] in how
        },
    )


def is_safe_to_render(sql: str) -> str:
    return "written anew" if is_condition_faithful(parse_one(sql, read="spark")) else "left out"


def unwrap_cast(text: str) -> str:
    """For `type: expression` over column `k`, returns what it is compared as, in a UTC session."""
    type_name, _, expression = text.partition(": ")
    found = unwrapped(parse_one(expression, read="spark"), type_name, is_utc=True)
    return "computed" if found is None else f"{found.type_name} {found.span}"


def key_type(text: str) -> str:
    """For `type: expression` over column `k`, returns the type of the expression."""
    type_name, _, expression = text.partition(": ")
    return type_of_key(parse_one(expression, read="spark"), type_name) or "unknown"


def key_conversion(text: str) -> str:
    """For `probe's type = build's type`, returns the type of the keys, in a UTC session."""
    probe, _, build = text.partition(" = ")
    found = converted_keys(probe, build, is_utc=True)
    if found is None:
        return "not convertible"
    return found.type_name if found.cast_to is None else f"{found.type_name} by {found.cast_to}"


def converted_query(text: str) -> str:
    """Converts a query for a column into one for `expression` or `expression to TYPE`."""
    expression, _, cast_to = text.partition(" to ")
    tree = parse_one(expression, read="spark")
    sql = "SELECT DISTINCT `t0`.`k` AS `k0` FROM `d` AS `t0`"
    query = BuildQuery(sql, Build((), (), "", ()), frozenset(), sql)
    return keys_query(query, None if isinstance(tree, exp.Column) else tree, cast_to or None).sql


def range_queries(text: str) -> str:
    """For `type: least greatest`, returns the query that looks for gaps between the two."""
    type_name, _, values = text.partition(": ")
    low, high = (_value(type_name, part) for part in values.split())
    return stripes_query("SELECT DISTINCT k AS k0 FROM d", type_name, (low, high)) or NOTHING


def converted_join(sql: str) -> str:
    return _candidates(converted_candidates(_joined_select(sql)))


def detect(sql: str) -> str:
    """Lists each filter with its build query, then each rejected candidate with its reason."""
    tree = _qualified(sql)
    if tree is None:
        return "not understood"
    found = detected(tree, DetectionContext(TABLES, (), {}, max_build_rows=1000))
    filters = (assignment.filter for assignment in found.assignments)
    applied = [
        f"{filter_.probe.table.table}.{'+'.join(filter_.probe.columns)} by {filter_.filtering_query}"
        f"{''.join(f' fed at {keys.alias}.{keys.column}' for keys in filter_.key_dependencies)}"
        for filter_ in filters
    ]
    rejected = [
        f"{record.probe.table.table}.{record.probe.columns[0]} not by "
        f"{'.'.join([*(name.table for name in record.build.tables), *record.build.columns])}: {record.reason}"
        for record in found.rejected
    ]
    return _listed([*applied, *rejected])


def implied_conjuncts(condition: str) -> str:
    return _listed(conjunct.sql("spark") for conjunct in conjuncts_of(parse_one(condition, read="spark")))


def computed_join(sql: str) -> str:
    return _candidates(computed_candidates(_joined_select(sql)))


def composite_keys(sql: str) -> str:
    """Lists columns of `f` whose keys come from the same row, and the columns that they equal."""
    select = _joined_select(sql)
    graph = select.graph
    candidates = (*inner_candidates(select), *outer_candidates(select), *semi_candidates(select))
    found = (_found_key(candidate, graph) for candidate in candidates if candidate.probe.relation == "f")
    return _listed(
        ", ".join(f"{key.probe.columns[0]} by {key.build.relation}.{key.build.column}" for key in keys)
        for keys in composed_keys(found)
    )


def key_dependencies(sql: str) -> str:
    """Lists columns that can filter the query for the keys of `d.day_key`, and the sources of their keys."""
    graph = _graph(_scope(sql))
    allowed = frozenset(graph.relations.keys() - {"f"})
    query = rendered_build_query(graph, [ColumnOf("d", "day_key")], allowed, _facts)
    assert query is not None
    known = KnownTables(TABLES, max_build_rows=1000)
    return _listed(
        f"{chained.relation}.{chained.column} {type_name} by {keys.sql}"
        for chained, keys, type_name in feeding_queries(graph, query, allowed, known)
    )


def flattened_columns(sql: str) -> str:
    """Lists the expressions of derived table `d`, and says whether each of its rows is a row of its joins."""
    scope = _scope(sql).sources["d"]
    assert isinstance(scope, Scope)
    found = projections(scope.expression, _flattened(scope))
    rows = "rows of its joins" if has_rows_of_its_joins(scope.expression) else "other rows"
    return _listed([rows, *(f"{name}: {expression.sql('spark')}" for name, expression in found.items())])


def ambiguous_tables(sql: str) -> str:
    """Lists the tables that get no snapshot at all, because two different ones might be read."""
    parsed, tree = parsed_query(sql), _qualified(sql)
    if parsed is None or tree is None:
        return "not understood"
    names = names_of(parsed, frozenset({"lake"}), "lake", "shop")
    return _listed(sorted(table.table for table in found_ambiguous(tree, parsed, names)))


def is_uncorrelated(sql: str) -> str:
    """Checks the WHERE of a query, in which `remote` must not be read."""
    scope = _scope(sql)
    scopes = {id(inner.expression): inner for inner in scope.traverse()}
    where = scope.expression.args["where"].this
    return "alone" if is_alone(where, scopes, lambda table: table.name != "remote") else "not alone"


def is_chosen_otherwise(sql: str) -> str:
    is_so = is_select_chosen_otherwise(parse_one(sql, read="spark"))
    return "by more than conditions" if is_so else "by its conditions"


def unfiltered(sql: str) -> str:
    """Lists each table reference without a candidate, with its reason."""
    tree = _qualified(sql)
    if tree is None:
        return "not understood"
    found = detected(tree, DetectionContext(TABLES, (), {}, max_build_rows=1000)).unfiltered
    return _listed(
        sorted(
            f"{filter_record.probe.table.table}{_key_of(filter_record)}: {filter_record.reason}"
            for filter_record in found
        )
    )


def rejection_details(sql: str) -> str:
    """Lists the details of all columns that get no filter, with their reasons."""
    tree = _qualified(sql)
    if tree is None:
        return "not understood"
    found = detected(tree, DetectionContext(TABLES, (), {}, max_build_rows=1000))
    return _listed(
        sorted(
            f"{record.probe.table.table}.{record.probe.columns[0]}: {record.reason}: {record.detail}"
            for record in (*found.rejected, *found.unfiltered)
            if record.probe.columns and record.detail
        )
    )


def _key_of(record: FilterRecord) -> str:
    if not record.probe.columns:
        return ""
    build = [*(name.table for name in record.build.tables), *record.build.columns]
    return f".{record.probe.columns[0]} not by {'.'.join(build)}"


def local_relations(sql: str) -> str:
    """Lists each table's name in the text, with the query for the rows that may replace it."""
    parsed, tree = parsed_query(sql), _qualified(sql)
    if parsed is None or tree is None:
        return "not understood"
    is_named = named_in(sql, parsed.tree)
    context = DetectionContext(
        TABLES, (), {}, max_build_rows=1000, is_named=is_named, max_relation_rows=50, parsed=parsed
    )
    return _listed(
        f"{sql[: relation.reference_end].split()[-1]} is {relation.query.sql}"
        for relation in detected(tree, context).relations
    )


def redundant_joins(sql: str) -> str:
    """Lists the text without each join that can be eliminated."""
    parsed, tree = parsed_query(sql), _qualified(sql)
    if parsed is None or tree is None:
        return "not understood"
    context = DetectionContext(TABLES, (), {}, max_build_rows=1000, max_relation_rows=50, parsed=parsed)
    found = detected(tree, context).redundant_joins
    return _listed(injected(parsed, {}, join.edits) for join in found if join.edits is not None)


RULES: Mapping[str, Callable[[str], str]] = {
    rule.__name__: rule
    for rule in (
        parse,
        table_names,
        view_text,
        expand_views,
        is_supported_syntax,
        qualify,
        matches_spark_resolution,
        join_graph,
        null_rejecting_columns,
        effective_joins,
        inner_join,
        outer_join,
        semi_join,
        null_safe_join,
        lineage,
        affordable_build,
        flatten_relations,
        inline_table,
        literal_type,
        join_graphs,
        join_conditions,
        fold_current_date,
        bounded_clock,
        number_placeholders,
        build_query,
        predicate,
        composite_predicate,
        chained_query,
        inject,
        is_safe_to_render,
        is_nondeterministic,
        is_replaceable,
        unwrap_cast,
        key_type,
        key_conversion,
        converted_query,
        converted_join,
        range_queries,
        detect,
        unfiltered,
        rejection_details,
        local_relations,
        redundant_joins,
        implied_conjuncts,
        computed_join,
        composite_keys,
        key_dependencies,
        flattened_columns,
        ambiguous_tables,
        is_uncorrelated,
        is_chosen_otherwise,
    )
}


def _found_key(candidate: Candidate, graph: JoinGraph) -> FoundKey:
    table = graph.relations[candidate.probe.relation]
    assert isinstance(table, exp.Table)
    facts = _facts(table)
    assert facts is not None
    probe = Probe(facts.name, (candidate.probe.column,), ("int",), facts.snapshot_id)
    return FoundKey(candidate, probe, candidate.build, candidate.build_graph, frozenset(), 0)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(lines) or NOTHING


def _qualified(sql: str) -> exp.Query | None:
    parsed = parsed_query(sql)
    assert parsed is not None
    return qualified(parsed.tree, TABLES, "lake", "shop")


def _scope(sql: str) -> Scope:
    tree = _qualified(sql)
    assert tree is not None
    scope = build_scope(tree)
    assert scope is not None
    return scope


def _graph(scope: Scope) -> JoinGraph:
    graph = joined(scope)
    assert graph is not None
    return graph


def _flattened(scope: Scope) -> FlattenedGraph:
    return flattened_relations(_graph(scope), _flattened, _written)


def _written(scope: Scope | exp.Expr) -> InlineTable | None:
    assert isinstance(scope, Scope)
    return rows_written(
        scope,
        lambda inner: None if joined(inner) is None else _flattened(inner),
        _is_known,
        is_condition_faithful,
    )


def _is_known(relation: Relation) -> bool:
    return isinstance(relation, InlineTable) or (
        isinstance(relation, exp.Table) and _facts(relation) is not None
    )


def _facts(table: exp.Table) -> TableFacts | None:
    facts = TABLES.get(TableAt(TableName(table.catalog, table.db, table.name)))
    return None if facts is None or facts.snapshot_id is None else facts


def _classes(graph: JoinGraph) -> Mapping[ColumnOf, frozenset[ColumnOf]]:
    def family(column: ColumnOf) -> str | None:
        relation = graph.relations.get(column.relation)
        facts = _facts(relation) if isinstance(relation, exp.Table) else None
        types = {column.name: column.type_name for column in facts.columns} if facts else {}
        return key_family(types.get(column.column, "int"))

    return column_classes(graph.equalities, family)


def _candidates(found: Iterable[Candidate]) -> str:
    return _listed(
        f"{pair.probe.relation}.{pair.probe.column} "
        f"{'by' if pair.rejection is None else 'not by'} {pair.build.relation}.{pair.build.column}"
        f"{'' if pair.rejection is None else f': {pair.rejection}'}"
        for pair in found
    )


def _value(type_name: str, text: str) -> KeyValue:
    match type_name.partition("(")[0]:
        case "int" | "long":
            return int(text)
        case "decimal":
            return Decimal(text)
        case "date":
            return date.fromisoformat(text)
        case "timestamp" | "timestamptz":
            return datetime.fromisoformat(text)
        case "boolean":
            return text == "true"
        case _:
            return text
