"""PySpark's server of accumulators in this process, whose faults belong in the log."""

from __future__ import annotations

import sys

import structlog
from pyspark import SparkContext

log = structlog.get_logger(__name__)


def log_faults(context: SparkContext) -> None:
    """Logs a fault of a connection as one line. Python's servers print a traceback to standard error instead.

    Such a connection fails whenever the JVM ends after an executor's Python has run.
    """
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = _log_fault


def _log_fault(request: object, client_address: object) -> None:  # noqa: ARG001 - the signature of socketserver
    log.info("accumulator_connection_ended", error=type(sys.exception()).__name__)
