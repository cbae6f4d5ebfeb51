"""The operator's rules on which tables callers may create and change."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from service.errors.ingest_errors import IngestInvalid, WriteNotAllowed
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.tables.tables import TableName
from service.policies.require import require


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """Rules for callers; names are full names of tables, with `*` for any part.

    `max_fields` counts nested fields too. A table never forgets a sort order; callers may bring it to at most
    `max_sort_orders`. `access` is what the sender of the ingest may do.
    """

    creatable_names: tuple[str, ...] = ("*",)
    evolvable_names: tuple[str, ...] = ("*",)
    max_fields: int = 10_000
    max_sort_orders: int = 100
    access: Access = FULL_ACCESS

    def check_creation(self, name: TableName, field_count: int) -> None:
        """Checks that the table may be created.

        Raises:
            WriteNotAllowed, TableAccessDenied, IngestInvalid: it may not.
        """
        if not _is_among(name, self.creatable_names):
            raise WriteNotAllowed(f"There is no table {name}, and callers may not create it here.")
        require(self.access, Action.CREATE, name)
        self._check_count(name, field_count)

    def check_evolution(self, name: TableName, field_count: int) -> None:
        """Checks that the table's schema may be changed to one with `field_count` fields.

        Raises:
            WriteNotAllowed, TableAccessDenied, IngestInvalid: it may not.
        """
        if not _is_among(name, self.evolvable_names):
            raise WriteNotAllowed(f"Callers may not change the schema of {name} here.")
        require(self.access, Action.MODIFY, name)
        self._check_count(name, field_count)

    def check_sort_orders(self, name: TableName, count: int) -> None:
        """Checks that the table may have `count` sort orders.

        Raises:
            IngestInvalid: it may not.
        """
        if count > self.max_sort_orders:
            raise IngestInvalid(
                f"{name} would have {count} sort orders; callers may add up to {self.max_sort_orders}."
                " Use one that it has, or leave sortOrder out."
            )

    def check_sent(self, name: TableName, field_count: int, own_count: int) -> None:
        """Checks that a schema with `field_count` fields may be compared with the table's `own_count` fields.

        Each difference takes time, and a table with more fields than both could not be made in any case.

        Raises:
            IngestInvalid: it is not.
        """
        if field_count > own_count:
            self._check_count(name, field_count)

    def _check_count(self, name: TableName, field_count: int) -> None:
        if field_count > self.max_fields:
            raise IngestInvalid(
                f"{name} would have {field_count} fields; at most {self.max_fields} are allowed here."
            )


NOTHING_FORBIDDEN = ChangeRules()


def _is_among(name: TableName, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(str(name), pattern) for pattern in patterns)
