from __future__ import annotations

from dataclasses import replace

from service.ingest.streaming.batch_progress import BatchProgress
from service.model.ingest import IngestCommit, Write
from service.model.judged_by import JudgedBy, Judging, ReadAs
from service.model.schemas import Field, Primitive
from service.model.tables import TableName
from service.model.writing import TableKey
from tests.fakes.ingests import ingest_of

CLICKS, SALES = (TableKey(TableName("lake", "logs", each)) for each in ("clicks", "sales"))
OLD, NEW = (ReadAs((Field(1, each, Primitive("long")),)) for each in ("old", "new"))


def test_what_took_its_rows_before_is_read_on_as_it_is_and_not_judged() -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    taken, refused = IngestCommit(CLICKS, ()), IngestCommit(SALES, (), error_code="TABLE_CHANGED")
    progress.tried_rows(replace(ingest_of([]), commits=(taken, refused)))
    assert progress.judging is None
    progress.tried_rows(
        replace(ingest_of([]), commits=(IngestCommit(SALES, ()),), judged_by=JudgedBy((OLD, NEW))),
    )
    # A file of the first alone may have what the second cannot even be read by.
    assert progress.judging == Judging((OLD, NEW), frozenset({1}))
