"""The layout of tables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from service.model.tables.table_layout import TableLayout
from service.model.tables.tables import TableName
from service.ports.tables.rewritten_rows import RewrittenRows


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutBounds:
    """How much of a table is looked at; the sample ends early after `timeout_s`.

    `max_rewritten_bytes` is how much memory the rows take that are written in other orders; 0: none are.
    """

    max_files: int
    max_sampled_files: int
    max_sampled_rows: int
    timeout_s: float
    max_rewritten_bytes: int = 0


class TableLayouts(Protocol):
    """Reads how the rows of a table lie in its files."""

    def layout(self, table: TableName, columns: Collection[str], bounds: LayoutBounds) -> TableLayout:
        """Returns the layout of the table as it is now, with bounds and samples of these columns.

        A column that does not exist, or whose values cannot be compared, is left out.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name.
            LayoutUnknown: the table is not one of Iceberg, or has too many files.
            CatalogDown: the catalog does not answer.
            StorageDown: the table's storage does not answer.
        """

    def rewritten(self, layout: TableLayout, bounds: LayoutBounds) -> RewrittenRows | None:
        """Returns rows of the files of this layout, to be written in other orders; None if none may be."""
