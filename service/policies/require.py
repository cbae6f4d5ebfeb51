"""Asks what a principal may do, where a request names its table."""

from __future__ import annotations

from service.errors.policy_errors import TableAccessDenied
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access, Allowed
from service.model.tables.tables import TableName

EVERY_TABLE = TableName("*", "*", "*")
"""Stands for all tables in the refusal of `require_admin`."""


def may(access: Access, action: Action, table: TableName) -> bool:
    """Whether the principal may do it to some rows of the table."""
    return isinstance(access.decide(action, table), Allowed)


def require(access: Access, action: Action, table: TableName) -> None:
    """Checks that the principal may do it to the table.

    Raises:
        TableAccessDenied: it may not. The answer is the same whether or not the table exists.
    """
    if not may(access, action, table):
        raise TableAccessDenied(table, action)


def administers(access: Access) -> bool:
    """Whether policies make the principal an administrator of all tables; without policies, nobody is one."""
    return access is not FULL_ACCESS and access.administers_all()


def require_admin(access: Access) -> None:
    """Checks that the principal administers all tables.

    Raises:
        TableAccessDenied: it does not, or a denial excepts a table.
    """
    if not access.administers_all():
        raise TableAccessDenied(EVERY_TABLE, Action.ADMIN)
