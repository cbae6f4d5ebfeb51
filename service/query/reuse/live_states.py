"""The states of tables and views, asked for each submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.model.query.reuse import QueryFacts
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.ports.clock import Clock
from service.ports.stores.reusable_results import ViewStates
from service.ports.tables.catalogs import Catalogs
from service.query.reuse.table_states import table_state


@dataclass(frozen=True, slots=True)
class States:
    """The states of all tables and views of a text at one moment, which is not before `at`.

    `facts` describe the tables.
    """

    at: datetime
    tables: Mapping[TableName, str]
    views: Mapping[TableName, str]
    facts: Mapping[TableName, TableFacts]

    def is_same(self, other: States | None) -> bool:
        """Whether nothing was changed between the two."""
        return other is not None and (self.tables, self.views) == (other.tables, other.views)


class LiveStates:
    """Asks the catalogs once for each set of tables and views. Make one for each moment.

    All queries that share one must have been submitted before it is first asked.
    """

    def __init__(self, catalogs: Catalogs, views: ViewStates, clock: Clock) -> None:
        self._catalogs = catalogs
        self._views = views
        self._clock = clock
        self._known: dict[tuple[object, ...], States | None] = {}

    def of(self, facts: QueryFacts) -> States | None:
        """Returns the states; None if one of them is not known now."""
        asked = (facts.tables, *sorted(facts.views))
        if asked not in self._known:
            self._known[asked] = self._asked(facts)
        return self._known[asked]

    def _asked(self, facts: QueryFacts) -> States | None:
        at = self._clock.now()
        names = facts.tables
        found = self._catalogs.facts_of([TableAt(name) for name in names]) if names else {}
        described = {table_at.name: table for table_at, table in found.items()}
        states = {name: state for name, table in described.items() if (state := table_state(table))}
        views = self._views.states_of(facts.views) if facts.views else {}
        if len(states) < len(names) or len(views) < len(facts.views):
            return None
        return States(at, states, views, described)
