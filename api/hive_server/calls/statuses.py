"""The status that each answer has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.hive_server.calls.protocol_numbers import StatusCode
from api.sql_protocols.failures import Failure

_ERROR_CODE = 1
OK: Mapping[str, Any] = {"statusCode": StatusCode.SUCCESS}


def failed(failure: Failure) -> dict[str, Any]:
    """Returns the status of a call that failed."""
    return {
        "statusCode": StatusCode.ERROR,
        "infoMessages": [failure.text],
        "sqlState": failure.sql_state,
        "errorCode": _ERROR_CODE,
        "errorMessage": failure.text,
    }


def failed_operation(failure: Failure) -> dict[str, Any]:
    """Returns the same for an operation that failed: the call that asks for it has not."""
    return {"sqlState": failure.sql_state, "errorCode": _ERROR_CODE, "errorMessage": failure.text}
