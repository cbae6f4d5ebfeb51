"""The roots of the errors' tree: any error, an error of the caller, and a part that is down.

`code` is stable: callers may branch on it. Only `api/http/problems/http_errors.py` knows its HTTP status.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from service.model.tables.schema_changes import TableEvolution


class GatewayError(Exception):
    """The gateway met an unexpected error."""

    code: ClassVar[str] = "INTERNAL"
    evolutions: Sequence[TableEvolution] = ()
    """Tables created or changed before the error, which stay so."""

    def __init__(self, detail: str | None = None) -> None:
        # The rest of a docstring is for the code that raises it.
        self.detail = detail or (type(self).__doc__ or "").strip().partition("\n\n")[0]
        super().__init__(self.detail)


class CallerError(GatewayError):
    """The request cannot be served as it stands."""

    code = "BAD_REQUEST"


class PartDown(GatewayError):
    """A part that the request needs is down."""

    code = "PART_DOWN"


class CannotStart(GatewayError):
    """The gateway cannot start; the message is one sentence with the cure."""

    code = "CANNOT_START"


def did_you_mean(nearest: Sequence[str]) -> str:
    """Returns a closing question that names the nearest candidates, or an empty text.

    >>> did_you_mean(["d_year", "d_moy"])
    ' Did you mean d_year or d_moy?'
    >>> did_you_mean([])
    ''
    """
    return f" Did you mean {' or '.join(nearest)}?" if nearest else ""
