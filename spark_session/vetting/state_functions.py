"""What statements about states may have beside what callers' queries may have.

They keep, merge and read groups of aggregations by functions of our own. The texts of callers are checked
without this module, so to them these functions do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.model.query.refresh import StateFunction
from spark_session.vetting.vet import vet_statement

STATE_FUNCTIONS = frozenset(function.value for function in StateFunction)
STATE_EXPRESSIONS = frozenset({"sluice.refresh.RegisterAggregate"})
"""What these functions make: full names of classes, as `PlanVetting.java` has those that are not Spark's."""


def vet_state_statement(read: Mapping[str, Any]) -> None:
    """Checks a statement about a state as `vet_statement` checks a query.

    Raises:
        StatementNotAllowed, SqlInvalid: as `vet_statement`.
    """
    called = [parts for parts in read["functions"] if ".".join(parts) not in STATE_FUNCTIONS]
    vet_statement({**read, "functions": called})
