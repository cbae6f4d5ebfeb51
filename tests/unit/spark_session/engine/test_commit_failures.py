"""A catalog that did not answer may have committed, or do it later: then nobody knows."""

from __future__ import annotations

import pytest

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import CommitConflict, CommitStateUnknown
from service.errors.statement_errors import StatementNotAllowed
from service.model.tables.tables import TableName
from service.model.writes.writes import Write, WriteKind
from spark_session.engine.writes.commit_failures import commit_failure

ICEBERG = "org.apache.iceberg"


@pytest.mark.parametrize(
    ("kind", "behind", "expected"),
    [
        (WriteKind.MERGE, f"{ICEBERG}.exceptions.CommitStateUnknownException", CommitStateUnknown),
        (WriteKind.MERGE, f"{ICEBERG}.jdbc.UncheckedSQLException", CommitStateUnknown),
        (WriteKind.INSERT, f"{ICEBERG}.exceptions.RESTException", CommitStateUnknown),
        (WriteKind.ALTER_TABLE, f"{ICEBERG}.exceptions.ServiceFailureException", CommitStateUnknown),
        (WriteKind.DROP_TABLE, f"{ICEBERG}.hive.RuntimeMetaException", CommitStateUnknown),
        (WriteKind.DELETE, f"{ICEBERG}.exceptions.CommitFailedException", CommitConflict),
        (WriteKind.DELETE, f"{ICEBERG}.exceptions.ValidationException", CommitConflict),
        (WriteKind.CREATE_VIEW, "java.lang.UnsupportedOperationException", StatementNotAllowed),
    ],
)
def test_the_exceptions_say_what_is_known(kind: WriteKind, behind: str, expected: type[GatewayError]) -> None:
    classes = frozenset({"org.apache.spark.SparkException", behind})
    assert type(commit_failure(classes, Write(kind, TableName("lake", "shop", "orders")))) is expected


@pytest.mark.parametrize(
    ("kind", "behind"),
    [
        (WriteKind.ALTER_TABLE, f"{ICEBERG}.exceptions.ValidationException"),
        (WriteKind.INSERT, "java.lang.ArithmeticException"),
    ],
)
def test_other_failures_are_sparks(kind: WriteKind, behind: str) -> None:
    assert commit_failure({behind}, Write(kind, TableName("lake", "shop", "orders"))) is None
