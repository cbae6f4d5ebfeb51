"""Whether a write that Spark has failed may be committed all the same, by the Java exceptions behind it."""

from __future__ import annotations

from collections.abc import Collection

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import CommitConflict, CommitStateUnknown
from service.errors.statement_errors import StatementNotAllowed
from service.model.writes.writes import Write
from spark_session.engine.writes.asked_target import OF_VIEWS
from spark_session.spark_errors import CATALOG_FAILURES

_FAILED = "org.apache.iceberg.exceptions.CommitFailedException"
_INVALID = "org.apache.iceberg.exceptions.ValidationException"
"""Another commit contradicts the rows; in a definition, there is no such table."""
_UNSUPPORTED = "java.lang.UnsupportedOperationException"
_UNKNOWN = CATALOG_FAILURES | {"org.apache.iceberg.exceptions.CommitStateUnknownException"}
"""A catalog that did not answer may still do it, some time later."""


def commit_failure(classes: Collection[str], write: Write) -> GatewayError | None:
    """Returns the error of a write that failed with these exceptions; None: Spark's failure says it.

    Errors:
        CommitStateUnknown: nobody knows whether it was committed.
        CommitConflict: other commits to its table contradict it. Nothing was committed.
        StatementNotAllowed: its catalog has no views.
    """
    if not _UNKNOWN.isdisjoint(classes):
        return CommitStateUnknown()
    if _FAILED in classes or (write.has_snapshot and _INVALID in classes):
        return CommitConflict()
    if write.kind in OF_VIEWS and _UNSUPPORTED in classes:
        return StatementNotAllowed(f"The catalog {write.table.catalog} has no views.")
    return None
