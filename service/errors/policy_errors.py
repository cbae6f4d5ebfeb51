"""Refusals by policies, and faults of policies."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.gateway_error import CallerError, PartDown
from service.faults import Fault
from service.model.policies.actions import Action
from service.model.tables.tables import TableName

_DOING = {
    Action.SELECT: "read",
    Action.INSERT: "append records to",
    Action.MODIFY: "upsert records to, or change the schema of,",
    Action.DESCRIBE: "describe",
    Action.CREATE: "create",
    Action.MAINTAIN: "maintain",
    Action.ADMIN: "administer",
}


class TableAccessDenied(CallerError):
    """This principal may not do this to this table."""

    code = "TABLE_ACCESS_DENIED"

    def __init__(self, table: TableName, action: Action, reason: str = "") -> None:
        super().__init__(f"You may not {_DOING[action]} {table}{reason and ': '}{reason}.")
        self.table = str(table)


class AdminRequired(CallerError):
    """Only administrators may do this."""

    code = "ADMIN_REQUIRED"


class PoliciesChanged(CallerError):
    """The policies have another version than the request expects."""

    code = "POLICIES_CHANGED"

    def __init__(self, version: int) -> None:
        super().__init__(
            f"Another request has changed the policies: their version is {version} now. Read them again, and"
            " apply your change to them."
        )
        self.version = version


class PoliciesInvalid(CallerError):
    """The policies are not valid. Nothing was changed."""

    code = "POLICIES_INVALID"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults[:3])) or None)
        self.faults = tuple(faults)


class AuditLogFull(PartDown):
    """The audit log takes no more events now, and nothing is done without one. Send the request again."""

    code = "AUDIT_LOG_FULL"


class PoliciesDown(PartDown):
    """The policies are not known, or too old: the metrics store does not answer. Send the request again."""

    code = "POLICIES_DOWN"
