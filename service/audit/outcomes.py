"""Says how an action ended, by the code of its error."""

from __future__ import annotations

from service.errors.every_kind import kinds_by_code
from service.errors.gateway_error import CallerError
from service.model.audit.events import Outcome


def outcome_of(error_code: str | None) -> Outcome:
    """Returns REFUSED for errors that the caller made, since nothing was done, and FAILED for all others.

    >>> [outcome_of(code).value for code in (None, "STATEMENT_NOT_ALLOWED", "QUERY_TIMED_OUT", "NEW_CODE")]
    ['SUCCEEDED', 'REFUSED', 'FAILED', 'FAILED']
    """
    if error_code is None:
        return Outcome.SUCCEEDED
    return Outcome.REFUSED if error_code in kinds_by_code(CallerError) else Outcome.FAILED
