"""Turns the errors of the store's client into the gateway's own."""

from __future__ import annotations

from http import HTTPStatus

import structlog
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from urllib3.exceptions import HTTPError

from service.errors.query_errors import ResultStoreDown

log = structlog.get_logger(__name__)

# By the store's own words: a proxy before it says 404, too.
_GONE = frozenset({"NoSuchKey", "InvalidRange"})
REFUSED = (
    "The object store of results refuses the gateway. Ask the operator: its credentials are wrong, or may not"
    " list, read, write and delete below results_url."
)
NO_CREDENTIALS = (
    "The gateway has no credentials for the object store of results. Ask the operator: they are in"
    " results_properties or in the environment."
)
NO_BUCKET = "The object store of results has no such bucket. Ask the operator to correct results_url."


class ObjectGone(Exception):
    """There is no such object."""


def failure_of(error: Exception) -> ObjectGone | ResultStoreDown | None:
    """Returns the error for one of the store's client; None if it comes from elsewhere.

    The store's own words may name hosts and accounts, so only the log gets them.
    """
    if isinstance(error, ObjectGone | ResultStoreDown):
        return error
    if isinstance(error, ClientError):
        return _of_answer(error)
    if not isinstance(error, BotoCoreError | HTTPError | OSError):
        return None
    log.warning("result_store_not_reached", error=type(error).__name__, detail=str(error))
    return ResultStoreDown(NO_CREDENTIALS if isinstance(error, NoCredentialsError) else None)


def is_silent(error: Exception) -> bool:
    """Whether the store gave no answer, so that another question would get none either."""
    if not isinstance(error, ClientError):
        return not isinstance(error, ObjectGone)
    return _status(error) >= HTTPStatus.INTERNAL_SERVER_ERROR


def _of_answer(error: ClientError) -> ObjectGone | ResultStoreDown:
    status = _status(error)
    code = error.response.get("Error", {}).get("Code", "")
    if code in _GONE:
        return ObjectGone()
    log.warning("result_store_refused", status=status, code=code, operation=error.operation_name)
    if code == "NoSuchBucket":
        return ResultStoreDown(NO_BUCKET)
    is_refused = status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    return ResultStoreDown(REFUSED if is_refused else None)


def _status(error: ClientError) -> int:
    status: int = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status
