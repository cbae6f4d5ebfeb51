"""Translates failures of a session, and its loss, into the gateway's own terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed
from service.errors.unavailable import EngineLost
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import in_gateway_terms


@contextmanager
def in_engine_terms(session: WarmSession, is_canceled: Callable[[], bool]) -> Iterator[None]:
    """Turns errors of Spark and its socket into errors that the caller may see."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        if session.is_lost():
            raise EngineLost from failure
        if is_canceled():
            raise QueryCanceled from failure
        raise _translated(failure) from failure
    except (*UNREACHABLE, pa.ArrowException) as failure:
        # This comes first: after waiting for the process to end, `health` reports the truth at once.
        if session.is_lost() or isinstance(failure, Py4JNetworkError):
            raise EngineLost from failure
        if isinstance(failure, AssertionError | AttributeError | TypeError):
            raise
        raise QueryFailed("The engine did not understand this query.") from failure


def _translated(failure: PySparkException | Py4JJavaError) -> GatewayError:
    """Returns the error that the caller sees; the JVM may go while it is asked for the error's parts."""
    try:
        return in_gateway_terms(failure)
    except (Py4JError, OSError):
        return EngineLost()
