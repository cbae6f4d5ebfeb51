from __future__ import annotations

from dataclasses import replace

from service.ingest.streaming.batch_progress import BatchProgress
from service.model.ingest import IngestCommit, Write
from service.model.judged_by import JudgedBy, Judging, ReadAs, UnreadableFile
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


BROKEN = UnreadableFile("file:///in/a.csv", "There is no column x.")


def test_a_file_without_which_a_table_was_settled_is_left_out_from_then_on() -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    judged = JudgedBy((OLD, OLD), (BROKEN,))
    refused = tuple(IngestCommit(each, (), error_code="TABLE_CHANGED") for each in (CLICKS, SALES))
    progress.tried_rows(replace(ingest_of([]), commits=refused, judged_by=judged))
    # No table was settled by this attempt: the next one may read the file.
    assert (progress.unreadable, progress.are_taken) == ((), False)
    progress.tried_rows(replace(ingest_of([]), commits=refused[1:], judged_by=judged))
    assert (progress.unreadable, progress.are_taken) == ((BROKEN,), True)
    progress.tried_rows(replace(ingest_of([]), commits=(IngestCommit(SALES, ()),)))
    assert progress.judging == Judging((OLD, OLD), frozenset({0}), (BROKEN,))


def test_where_nothing_was_to_be_taken_any_file_may_be_left_out_later() -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    refused = IngestCommit(SALES, (), error_code="TABLE_CHANGED")
    progress.tried_rows(replace(ingest_of([]), commits=(refused,)))
    assert progress.settled == {CLICKS}
    assert not progress.are_taken
