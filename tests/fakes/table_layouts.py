"""Layouts of tables without files, or of those that a test describes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from service.errors.table_errors import LayoutUnknown
from service.model.tables.table_layout import RowSample, TableLayout
from service.model.tables.tables import TableFacts, TableName
from service.ports.tables.rewritten_rows import RewrittenRows
from service.ports.tables.table_layouts import LayoutBounds


class FakeLayouts:
    """`facts` returns a table, or raises what the port raises. `layouts` has whole tables of a test.

    `rows` are what is written in other orders.
    """

    def __init__(self, facts: Callable[[TableName], TableFacts]) -> None:
        self._facts = facts
        self.layouts: dict[TableName, TableLayout] = {}
        self.rows: RewrittenRows | None = None

    def layout(self, table: TableName, columns: Collection[str], bounds: LayoutBounds) -> TableLayout:
        facts = self._facts(table)
        whole = self.layouts.get(table) or _without_files(facts)
        if len(whole.files) > bounds.max_files:
            raise LayoutUnknown("The table has too many data files.")
        asked = {name: kind for name, kind in whole.column_types.items() if name in columns}
        files = [
            replace(
                file,
                bounds={name: found for name, found in file.bounds.items() if name in asked},
                without_values=file.without_values & asked.keys(),
            )
            for file in whole.files
        ]
        sample = {name: values for name, values in whole.sample.columns.items() if name in asked}
        numbers = whole.sample.file_numbers if asked else ()
        return replace(whole, files=files, column_types=asked, sample=RowSample(numbers, sample))

    def rewritten(self, layout: TableLayout, bounds: LayoutBounds) -> RewrittenRows | None:  # noqa: ARG002
        return self.rows


def _without_files(facts: TableFacts) -> TableLayout:
    return TableLayout(
        table=facts.name,
        snapshot_id=facts.snapshot_id,
        files=(),
        sample=RowSample(),
        column_types={column.name: column.type_name for column in facts.columns},
        target_file_bytes=1_000,
    )
