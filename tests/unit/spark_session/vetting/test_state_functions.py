"""Functions of states exist for statements about states, and for nobody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.query.refresh import StateFunction
from spark_session.vetting.expressions import EXPRESSIONS
from spark_session.vetting.functions import FUNCTIONS, TABLE_FUNCTIONS
from spark_session.vetting.state_functions import STATE_EXPRESSIONS, STATE_FUNCTIONS, vet_state_statement
from spark_session.vetting.vet import vet_statement


def read(*functions: Sequence[str], **others: Any) -> Mapping[str, Any]:
    """Returns what a statement with these functions is made of."""
    empty: Mapping[str, Any] = dict.fromkeys(
        ("nodes", "relations", "options", "tableFunctions", "formatOptions"), ()
    )
    return {**empty, "functions": functions, **others}


@pytest.mark.parametrize("function", StateFunction)
def test_only_statements_about_states_may_call_them(function: StateFunction) -> None:
    vet_state_statement(read([function], ["sum"]))
    for parts in ([function], [function.upper()], ["builtin", function], ["lake", "system", function]):
        with pytest.raises(SqlInvalid):
            vet_statement(read(parts))


@pytest.mark.parametrize(
    "refused", [read(["reflect"]), read(nodes=["DropTable"]), read(relations=[["lake", "/etc/table"]])]
)
def test_all_else_is_checked_as_in_a_query(refused: Mapping[str, Any]) -> None:
    with pytest.raises(StatementNotAllowed):
        vet_state_statement(refused)
    with pytest.raises(SqlInvalid):
        vet_state_statement(read(["lake", *STATE_FUNCTIONS]))
    with pytest.raises(SqlInvalid):
        vet_state_statement(read(tableFunctions=[[*STATE_FUNCTIONS][:1]]))


def test_no_caller_is_offered_them() -> None:
    assert STATE_FUNCTIONS.isdisjoint({*FUNCTIONS, *TABLE_FUNCTIONS})
    assert STATE_EXPRESSIONS.isdisjoint(EXPRESSIONS)
