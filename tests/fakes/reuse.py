"""Facts of texts, and states of views, as a test sets them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from service.errors.statement_errors import SqlSyntaxError
from service.model.policies.read_plan import ReadPlan, ReadTable, ReadView
from service.model.query.reuse import PlanShape, QueryFacts, Reusability, TableRead
from service.model.tables.tables import TableName
from service.ports.engine.query_engine import Statement
from service.ports.stores.reusable_results import ViewStates


def read_plan(*tables: TableName, views: Collection[TableName] = ()) -> ReadPlan:
    """Returns the plan of a query that reads these tables, those below the last view if there is one."""
    inside: tuple[tuple[str, ...], ...] = ()
    read_views = []
    for view in views:
        read_views.append(ReadView(view.parts, inside))
        inside = (*inside, view.parts)
    read = tuple(ReadTable(name, name.parts, None, (), inside) for name in tables)
    written = tuple(view.parts for view in views) or tuple(name.parts for name in tables)
    return ReadPlan(written, tuple(read_views), read, ())


class FakeViewStates:
    def __init__(self, **states: str) -> None:
        self.states = {TableName("lake", "shop", name): state for name, state in states.items()}
        self.is_down = False

    def states_of(self, views: Collection[TableName]) -> Mapping[TableName, str]:
        found = {view: self.states[view] for view in views if view in self.states}
        return {} if self.is_down else found


class FakeFactReader:
    """Knows the tables, and the views, of each text that a test has `put`. `asked` has all statements.

    `alike` are pairs of texts that mean the same, and `shapes` are the plans of texts.
    """

    def __init__(self, views: ViewStates) -> None:
        self._views = views
        self._plans: dict[str, tuple[ReadPlan, Reusability]] = {}
        self.reads: dict[str, tuple[TableRead, ...]] = {}
        self.shapes: dict[str, PlanShape] = {}
        self.alike: set[tuple[str, str]] = set()
        self.asked: list[Statement] = []
        self.before_answer: Callable[[], None] = lambda: None

    def put(
        self,
        sql: str,
        *tables: TableName,
        views: Collection[TableName] = (),
        reusability: Reusability = Reusability.REUSABLE,
    ) -> None:
        self._plans[sql] = (read_plan(*tables, views=views), reusability)

    def facts_of(self, statement: Statement) -> QueryFacts:
        self.asked.append(statement)
        self.before_answer()
        if statement.sql not in self._plans:
            raise SqlSyntaxError("Syntax error.", 1, 1)
        plan, reusability = self._plans[statement.sql]
        states = self._views.states_of([view.name for view in plan.views])
        definitions = {view.parts: f"definition {states.get(view.name)}" for view in plan.views}
        reads = self.reads.get(statement.sql, ())
        shape = self.shapes.get(statement.sql, PlanShape())
        return QueryFacts(plan, reusability, states, definitions, reads=reads, shape=shape)

    def is_read_alike(self, statement: Statement, sql: str) -> bool:
        return (statement.sql, sql) in self.alike
