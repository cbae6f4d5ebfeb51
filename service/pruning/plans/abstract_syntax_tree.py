"""The user's query as a tree of relational operators, as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from service.model.query.explanation import PlanNode
from service.pruning.plans.conditions import conjuncts, subqueries, text_of
from service.pruning.plans.table_references import is_reference_to, table_references

Attributes = tuple[tuple[str, tuple[str, ...]], ...]


def abstract_syntax_tree(tree: exp.Query, known_tables: Sequence[str] = ()) -> PlanNode:
    """Returns scans below joins below filters below projections, with full table names where known.

    >>> from sqlglot import parse_one
    >>> abstract_syntax_tree(parse_one("SELECT a FROM t")).children[0].operator
    'LogicalTableScan'
    """
    references = {id(reference): number for number, reference in enumerate(table_references(tree))}
    common = frozenset(cte.alias.lower() for cte in tree.find_all(exp.CTE))
    return _Reader(references, common, tuple(known_tables)).query(tree)


@dataclass(frozen=True, slots=True)
class _Reader:
    references: Mapping[int, int]
    common_tables: frozenset[str]
    known_tables: tuple[str, ...]

    def query(self, query: exp.Expr) -> PlanNode:
        plan = _sorted(query, self._body(query))
        definitions = (
            [
                PlanNode(
                    "LogicalCommonTable", (("name", (expression.alias,)),), (self.query(expression.this),)
                )
                for expression in query.args["with_"].expressions
            ]
            if query.args.get("with_")
            else []
        )
        return PlanNode("LogicalWith", (), (*definitions, plan)) if definitions else plan

    def _body(self, query: exp.Expr) -> PlanNode:
        match query:
            case exp.Select():
                return self._select(query)
            case exp.SetOperation():
                return self._set_operation(query)
            case exp.Subquery():
                return self._joined(self.query(query.this), query)
            case exp.Table():
                return self._joined(self._table(query), query)
            case exp.Values():
                return PlanNode("LogicalValues", (("rows", (str(len(query.expressions)),)),))
            case _:
                return PlanNode("LogicalTableFunctionScan", (("invocation", (text_of(query),)),))

    def _set_operation(self, query: exp.SetOperation) -> PlanNode:
        branches: list[exp.Expr] = []
        left: exp.Expr = query
        # The tree is left-deep, possibly by thousands of branches.
        while type(left) is type(query) and (left is query or _continues(left, query)):
            branches.append(left.expression)
            left = left.this
        inputs = tuple(self.query(branch) for branch in (left, *reversed(branches)))
        is_all = "false" if query.args.get("distinct") else "true"
        return PlanNode(f"Logical{type(query).__name__}", (("all", (is_all,)),), inputs)

    def _select(self, select: exp.Select) -> PlanNode:
        source = select.args.get("from_")
        plan = self.query(source.this) if source else PlanNode("LogicalValues", (("rows", ("1",)),))
        plan = self._filtered(self._joined(plan, select), select.args.get("where"))
        plan = self._filtered(_aggregated(select, plan), select.args.get("having"))
        columns = tuple(_column(expression) for expression in select.expressions)
        inner = self._subplans(select.expressions)
        plan = PlanNode("LogicalProject", columns, (plan, *inner))
        plan = self._filtered(plan, select.args.get("qualify"))
        return PlanNode("LogicalDistinct", (), (plan,)) if select.args.get("distinct") else plan

    def _joined(self, plan: PlanNode, owner: exp.Expr) -> PlanNode:
        for join in owner.args.get("joins") or ():
            plan = self._join(plan, join)
        for lateral in owner.args.get("laterals") or ():
            plan = PlanNode("LogicalCorrelate", (("invocation", (text_of(lateral),)),), (plan,))
        return plan

    def _join(self, left: PlanNode, join: exp.Join) -> PlanNode:
        on, using = join.args.get("on"), join.args.get("using") or ()
        conditions = conjuncts(on) if on is not None else ()
        texts = tuple(text_of(condition) for condition in conditions) or tuple(
            f"{column.name} = {column.name}" for column in using
        )
        attributes = (("condition", texts or ("true",)), ("joinType", (_join_type(join),)))
        inner = self._subplans(conditions)
        return PlanNode("LogicalJoin", attributes, (left, self.query(join.this), *inner))

    def _filtered(self, plan: PlanNode, clause: exp.Expr | None) -> PlanNode:
        if clause is None:
            return plan
        conditions = conjuncts(clause.this)
        texts = tuple(text_of(condition) for condition in conditions)
        return PlanNode("LogicalFilter", (("condition", texts),), (plan, *self._subplans(conditions)))

    def _subplans(self, expressions: Iterable[exp.Expr]) -> tuple[PlanNode, ...]:
        found = [query for expression in expressions for query in subqueries(expression)]
        return tuple(PlanNode("LogicalSubquery", (), (self.query(query),)) for query in found)

    def _table(self, table: exp.Table) -> PlanNode:
        parts = tuple(
            part.name if isinstance(part, exp.Identifier) else text_of(part) for part in table.parts
        )
        if len(parts) == 1 and parts[0].lower() in self.common_tables:
            return PlanNode("LogicalCommonTableScan", (("name", parts),))
        full = [table_name for table_name in self.known_tables if is_reference_to(table, table_name)]
        shown = tuple(full[0].split(".")) if len(full) == 1 else parts
        return PlanNode("LogicalTableScan", (("table", shown),), reference=self.references.get(id(table)))


def _continues(left: exp.Expr, query: exp.SetOperation) -> bool:
    plain = ("with_", "order", "limit", "offset")
    is_same = bool(left.args.get("distinct")) == bool(query.args.get("distinct"))
    return is_same and not any(left.args.get(arg) for arg in plain)


def _aggregated(select: exp.Select, plan: PlanNode) -> PlanNode:
    group = select.args.get("group")
    calls = tuple(
        text_of(call)
        for expression in (*select.expressions, *_clause(select, "having"))
        for call in expression.find_all(exp.AggFunc)
        if not isinstance(call.parent, exp.Window) and call.parent_select is select
    )
    if group is None and not calls:
        return plan
    keys = tuple(text_of(expression) for expression in group.expressions) if group is not None else ()
    return PlanNode("LogicalAggregate", (("group", keys), ("calls", tuple(dict.fromkeys(calls)))), (plan,))


def _clause(select: exp.Select, name: str) -> tuple[exp.Expr, ...]:
    clause = select.args.get(name)
    return (clause.this,) if clause is not None else ()


def _column(expression: exp.Expr) -> tuple[str, tuple[str, ...]]:
    if isinstance(expression, exp.Alias):
        return expression.alias, (text_of(expression.this),)
    text = text_of(expression)
    # A call has no name of its own, and the name of its argument would be another column's.
    return ("fields" if isinstance(expression, exp.Star) else expression.output_name or text), (text,)


def _join_type(join: exp.Join) -> str:
    words = (join.side, join.kind)
    known = ("SEMI", "ANTI", "LEFT", "RIGHT", "FULL")
    return next((word.lower() for word in known if word in words), "inner")


def _sorted(query: exp.Expr, plan: PlanNode) -> PlanNode:
    order = query.args.get("order")
    attributes: Attributes = (
        (("sort", tuple(text_of(expression) for expression in order.expressions)),) if order else ()
    )
    for key, name in (("offset", "offset"), ("limit", "fetch")):
        clause = query.args.get(key)
        if clause is not None:
            attributes += ((name, (text_of(clause.expression or clause),)),)
    return PlanNode("LogicalSort", attributes, (plan,)) if attributes else plan
