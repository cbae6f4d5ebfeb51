"""Statements about states may have more than callers' queries: functions of our own.

These keep, merge and read groups of aggregations. The texts of callers are checked
without this module, so to them these functions do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.model.query.refresh import StateFunction
from spark_session.vetting.vet import vet_statement

STATE_FUNCTIONS = frozenset(function.value for function in StateFunction)
STATE_EXPRESSIONS = frozenset({"sluice.refresh.RegisterAggregate"})
"""The classes of their calls, by full names: `PlanVetting.java` shortens those of Spark's classes only."""


def vet_state_statement(read: Mapping[str, Any]) -> None:
    """Checks a statement about a state as `vet_statement` checks a query.

    Raises:
        StatementNotAllowed, SqlInvalid: as `vet_statement`.
    """
    called = [parts for parts in read["functions"] if ".".join(parts) not in STATE_FUNCTIONS]
    vet_statement({**read, "functions": called})
