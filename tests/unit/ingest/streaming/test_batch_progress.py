from __future__ import annotations

from dataclasses import replace

import pytest

from service.ingest.streaming.batch_progress import BatchProgress
from service.model.ingest.ingest import IngestCommit, Rejected, WrittenTarget
from service.model.ingest.ingest_request import Write
from service.model.ingest.validation_schema import ReadAs, UnreadableFile, ValidatedSchemas, ValidationSchema
from service.model.ingest.writing import TableKey
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import TableName
from tests.fakes.ingests import ingest_of

CLICKS, SALES = (TableKey(TableName("lake", "logs", name)) for name in ("clicks", "sales"))
OLD, NEW = (ReadAs((Field(1, name, Primitive("long")),)) for name in ("old", "new"))


def test_what_took_its_rows_before_is_read_on_as_it_is_and_not_judged() -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    taken, refused = IngestCommit(CLICKS, ()), IngestCommit(SALES, (), error_code="TABLE_CHANGED")
    progress.tried_rows(replace(ingest_of([]), commits=(taken, refused)))
    assert progress.validation_schema is None
    progress.tried_rows(
        replace(
            ingest_of([]), commits=(IngestCommit(SALES, ()),), validated_schemas=ValidatedSchemas((OLD, NEW))
        ),
    )
    # The first write's columns are kept: files with its records alone may be unreadable by the second's.
    assert progress.validation_schema == ValidationSchema((OLD, NEW), frozenset({1}))


BROKEN = UnreadableFile("file:///in/a.csv", "There is no column x.")


def test_a_file_without_which_a_table_was_settled_is_left_out_from_then_on() -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    revalidated = ValidatedSchemas((OLD, OLD), (BROKEN,))
    refused = tuple(IngestCommit(key, (), error_code="TABLE_CHANGED") for key in (CLICKS, SALES))
    progress.tried_rows(replace(ingest_of([]), commits=refused, validated_schemas=revalidated))
    # No table was settled by this attempt, so the next one may be able to read the file.
    assert not progress.unreadable
    progress.tried_rows(replace(ingest_of([]), commits=refused[1:], validated_schemas=revalidated))
    assert progress.unreadable == (BROKEN,)
    progress.tried_rows(replace(ingest_of([]), commits=(IngestCommit(SALES, ()),)))
    assert progress.validation_schema == ValidationSchema((OLD, OLD), frozenset({0}), (BROKEN,))


ROWS = IngestCommit(CLICKS, (WrittenTarget(CLICKS, None, 1, 3, 100),), 7)


@pytest.mark.parametrize(
    ("commits", "bad_count", "unreadable", "are_taken"),
    [
        ((), 0, (), False),
        ((), 1, (BROKEN,), False),
        ((), 2, (BROKEN,), True),
        ((), 1, (), True),
        ((ROWS,), 0, (), True),
    ],
)
def test_other_files_are_taken_once_a_row_is_in_a_table_or_a_record_is_a_dead_letter(
    commits: tuple[IngestCommit, ...], bad_count: int, unreadable: tuple[UnreadableFile, ...], are_taken: bool
) -> None:
    progress = BatchProgress([Write(CLICKS, ()), Write(SALES, ())])
    refused = IngestCommit(SALES, (), error_code="TABLE_CHANGED")
    validated_schemas = ValidatedSchemas((OLD, OLD), unreadable) if bad_count else None
    ended = replace(ingest_of([]), commits=(*commits, refused), rejected=Rejected(bad_count))
    progress.tried_rows(replace(ended, validated_schemas=validated_schemas))
    assert progress.settled == {CLICKS}
    assert progress.are_taken is are_taken
