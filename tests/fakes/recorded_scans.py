"""Recorded scans of the table of a fake gateway, and a layout that does not suit them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.table_layout import FileBounds, LayoutFile, RowSample, TableLayout
from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.queries import NOON
from tests.fakes.query_records import scan, short_record

DAYS, FILES, ROWS_OF_A_FILE = 40, 4, 100
SECRET = 31


def record_scans(gateway: FakeGateway) -> None:
    """The table's files all have all days. Each query looks for a single day."""
    predicates = (ScanPredicate("day", ((SECRET, SECRET),)),)
    scanned = replace(scan(str(TABLE), 1, 1), predicates=predicates)
    for hours in (1, 30):
        record = replace(short_record(NOON - timedelta(hours=hours)), scans=(scanned,))
        gateway.recorded.record([record])
    file = LayoutFile(byte_count=4_000, record_count=ROWS_OF_A_FILE, bounds={"day": FileBounds(0, DAYS - 1)})
    rows = range(FILES * ROWS_OF_A_FILE)
    gateway.layouts.layouts[TABLE] = TableLayout(
        table=TABLE,
        snapshot_id=7,
        files=[file] * FILES,
        sample=RowSample([row // ROWS_OF_A_FILE for row in rows], {"day": [row * 7 % DAYS for row in rows]}),
        column_types={"day": "int"},
        target_file_bytes=4_000,
    )
