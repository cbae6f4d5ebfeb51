"""Tables are found, created and changed before anything is written, over fakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest

from service.errors.ingest_errors import (
    CreationInvalid,
    IngestInvalid,
    RecordsInvalid,
    SchemaMismatch,
    WriteNotAllowed,
    WriteSchemaInvalid,
)
from service.errors.table_errors import TableChanged, TableNotFound
from service.ingest.schema_changes.change_rules import ChangeRules
from service.model.ingest.ingest import BadRecord
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    IngestRequest,
    Violation,
    Write,
    WriteFault,
    WriteRule,
)
from service.model.ingest.writing import TableKey, WritableTable
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.schema_changes import (
    AddField,
    ColumnChange,
    ColumnChangeKind,
    MakeOptional,
    SchemaDifference,
    TableEvolution,
)
from service.model.tables.schemas import Field, ListOf, Primitive, Struct, TableSchema
from service.model.tables.table_creation import CreationFault, RequestedSchema, TableLayout
from service.model.tables.tables import PartitionField, SortField, TableName
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import LONG, STRING, with_columns

WITHIN_S = 20
ID, NOTE, NEW = Field(1, "id", LONG), Field(2, "note", STRING), Field(3, "new", STRING)
EVENTS = with_columns(ID, NOTE)
OTHERS = replace(EVENTS, key=TableKey(TableName("lake", "logs", "others")), table_uuid=UUID(int=2))
MISSING = TableName("lake", "new", "events")


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(EVENTS, OTHERS)
    yield made
    made.close(WITHIN_S)


def write(
    record: Mapping[str, object],
    *columns: Field,
    table: TableName = EVENTS.key.table,
    evolves: bool = True,
    create: TableLayout | None = None,
    write_schema: tuple[str, ...] | None = None,
    place: str = "",
    drops_required: bool = False,
) -> Write:
    names = None if write_schema is None else ColumnNames(write_schema)
    schema = RequestedSchema(TableSchema(0, columns), evolves, create, drops_required) if columns else None
    return Write(TableKey(table), (record,), names, place, schema)


def send(ingests: FakeIngests, *writes: Write) -> tuple[TableEvolution, ...]:
    accepted = ingests.accept(IngestRequest(writes, "f"), "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    return ingests.find(accepted.record.ingest_id, "ann").evolutions


def columns_of(ingests: FakeIngests, name: TableName = EVENTS.key.table) -> list[tuple[int, str]]:
    return [(column.field_id, column.name) for column in ingests.tables.writable(name, "main").schema.columns]


def test_files_are_written_with_the_ids_of_the_evolved_table(ingests: FakeIngests) -> None:
    send(ingests, write({"id": 1, "new": "a"}, ID, NOTE, NEW, write_schema=("new", "id")))
    assert columns_of(ingests) == [(1, "id"), (2, "note"), (3, "new")]
    [result] = [result for one in ingests.commits.rounds for result in one.write_results]
    assert (result.target.schema_id, result.target.write_schema_column_ids) == (1, (3, 1))


def test_a_schema_that_fits_changes_nothing(ingests: FakeIngests) -> None:
    send(ingests, write({"id": 1}, Field(9, "id", Primitive("int")), evolves=False))
    assert (ingests.changes.evolved, len(ingests.files.files)) == ([], 1)


def test_a_table_evolves_once_for_all_writes_and_branches(ingests: FakeIngests) -> None:
    second = replace(
        write({"new": "b", "more": 1}, ID, NEW, Field(4, "more", LONG)),
        key=TableKey(EVENTS.key.table, "audit"),
    )
    send(ingests, write({"new": "a"}, ID, NEW), second)
    assert columns_of(ingests) == [(1, "id"), (2, "note"), (3, "new"), (4, "more")]
    assert len(ingests.changes.evolved) == 1


def test_what_another_process_has_added_meanwhile_is_not_added_again(ingests: FakeIngests) -> None:
    def other() -> None:
        table = ingests.tables.writable(EVENTS.key.table, "main")
        ingests.changes.evolve(table, [AddField((), replace(NEW, field_id=0))])

    ingests.changes.before = other
    send(ingests, write({"new": "a", "more": 1}, ID, NEW, Field(4, "more", LONG)))
    assert columns_of(ingests) == [(1, "id"), (2, "note"), (3, "new"), (4, "more")]
    added = [change for _, changes in ingests.changes.evolved for change in changes]
    assert [change.field.name for change in added if isinstance(change, AddField)] == ["new", "more"]


def test_what_was_made_and_changed_is_reported_by_table(ingests: FakeIngests) -> None:
    place = Field(4, "place", Struct((Field(5, "city", STRING),)))
    wider = write({}, Field(1, "id", LONG), place, table=MISSING, create=TableLayout(), drops_required=True)
    made = write({"id": 1}, Field(1, "id", Primitive("int"), True), table=MISSING, create=TableLayout())
    reported = send(ingests, made, wider, write({"id": 1}, ID, NEW))
    assert reported == (
        TableEvolution(
            MISSING,
            is_created=True,
            changes=(
                ColumnChange("id", ColumnChangeKind.MADE_OPTIONAL),
                ColumnChange("id", ColumnChangeKind.WIDENED, "int", "long"),
                ColumnChange("place", ColumnChangeKind.ADDED, after="struct<city: string>"),
            ),
        ),
        TableEvolution(
            EVENTS.key.table, changes=(ColumnChange("new", ColumnChangeKind.ADDED, after="string"),)
        ),
    )
    assert send(ingests, write({"id": 1}, ID, NEW)) == ()


def test_what_another_process_has_made_and_changed_is_not_reported_as_ones_own(ingests: FakeIngests) -> None:
    def other() -> None:
        table = ingests.tables.writable(EVENTS.key.table, "main")
        ingests.changes.evolve(table, [AddField((), replace(NEW, field_id=0))])

    ingests.changes.before = other
    assert send(ingests, write({"new": "a"}, ID, NEW)) == ()


@pytest.mark.parametrize("name", ["_file", "_POS", "_partition", "_row_id"])
def test_names_that_would_make_the_table_unreadable_are_refused(ingests: FakeIngests, name: str) -> None:
    with pytest.raises(SchemaMismatch, match="reserves"):
        send(ingests, write({"id": 1}, ID, Field(9, name, STRING)))
    with pytest.raises(CreationInvalid, match="reserves"):
        send(ingests, write({}, Field(1, name, STRING), table=MISSING, create=TableLayout()))
    inside = Field(9, "place", Struct((Field(10, name, STRING),)))
    send(ingests, write({"id": 1}, ID, NOTE, inside))


def test_a_struct_without_fields_is_not_added(ingests: FakeIngests) -> None:
    with pytest.raises(SchemaMismatch, match="place is a struct without fields"):
        send(ingests, write({"id": 1}, ID, Field(9, "place", Struct(()))))


def test_a_new_table_has_names_that_catalogs_keep_and_rows_that_can_be_distinguished(
    ingests: FakeIngests,
) -> None:
    deep = TableName("lake", ".".join(["s" * 128] * 2), "events")
    with pytest.raises(CreationInvalid, match="255 characters"):
        send(ingests, write({}, ID, table=deep, create=TableLayout()))
    schema = RequestedSchema(TableSchema(0, (ID,), frozenset({1})), create=TableLayout())
    with pytest.raises(CreationInvalid, match="id identifies rows, so it has to be required"):
        send(ingests, Write(TableKey(MISSING), ({"id": 1},), schema=schema))


def test_days_become_moments_where_the_schema_says_so() -> None:
    at = Field(3, "at", Primitive("timestamp"))
    seen = Field(4, "seen", ListOf(Field(5, "element", Primitive("timestamp"))))
    ingests = FakeIngests(with_columns(ID, at, seen))
    sent = (
        replace(at, type=Primitive("date")),
        Field(0, "seen", ListOf(Field(0, "element", Primitive("date")))),
    )
    record = {"at": "2026-01-31", "seen": ["2026-02-01", None]}
    send(ingests, write(record, *sent, write_schema=("at", "seen"), evolves=False))
    [[row]] = ingests.files.files.values()
    assert row == {"at": datetime(2026, 1, 31), "seen": [datetime(2026, 2, 1), None]}
    for value in ("2026-01-31T00:00:00", 1):
        with pytest.raises(RecordsInvalid):
            send(ingests, write({"at": value}, *sent, write_schema=("at",)))
    with pytest.raises(RecordsInvalid):
        send(ingests, write({"at": "2026-01-31"}, write_schema=("at",)))
    ingests.close(WITHIN_S)


def test_what_another_process_has_added_otherwise_is_refused(ingests: FakeIngests) -> None:
    def other() -> None:
        table = ingests.tables.writable(EVENTS.key.table, "main")
        ingests.changes.evolve(table, [AddField((), Field(0, "new", LONG))])

    ingests.changes.before = other
    created = write({}, ID, table=MISSING, create=TableLayout())
    with pytest.raises(
        SchemaMismatch, match="new is long in the table, which cannot become string"
    ) as refused:
        send(ingests, created, write({"new": "a"}, ID, NEW))
    assert refused.value.evolutions == (TableEvolution(MISSING, is_created=True),)
    assert not ingests.files.files


def test_a_table_that_changes_all_the_time_is_given_up(ingests: FakeIngests) -> None:
    ingests.changes.never = True
    with pytest.raises(TableChanged, match="all the time"):
        send(ingests, write({"new": "a"}, ID, NEW))


def test_nothing_is_changed_when_any_table_of_the_request_refuses(ingests: FakeIngests) -> None:
    bad = write({}, Field(1, "id", STRING), table=OTHERS.key.table, place="/writes/1")
    made = write({}, ID, table=MISSING, create=TableLayout())
    unasked = write({}, ID, NEW, table=OTHERS.key.table, evolves=False, place="/writes/3")
    with pytest.raises(SchemaMismatch, match=r"from that of lake.logs.others in 2 place\(s\)") as refused:
        send(ingests, write({"new": "a"}, ID, NEW), bad, made, unasked)
    reported = [
        violation for violation in refused.value.violations if isinstance(violation, SchemaDifference)
    ]
    assert [(difference.place, difference.column) for difference in reported] == [
        ("/writes/1", "id"),
        ("/writes/3", "new"),
    ]
    assert (ingests.changes.evolved, ingests.changes.created) == ([], [])


def test_a_table_that_the_catalog_would_not_make_leaves_the_others_unmade(ingests: FakeIngests) -> None:
    made = write({}, ID, table=MISSING, create=TableLayout())
    nowhere = write({}, ID, table=TableName("nowhere", "s", "t"), create=TableLayout())
    with pytest.raises(CreationInvalid, match="no catalog nowhere"):
        send(ingests, made, nowhere)
    assert (ingests.changes.evolved, ingests.changes.created) == ([], [])


def test_bad_records_leave_the_table_evolved_and_nothing_written(ingests: FakeIngests) -> None:
    with pytest.raises(RecordsInvalid) as refused:
        send(ingests, write({"new": 1}, ID, NEW))
    added = ColumnChange("new", ColumnChangeKind.ADDED, after="string")
    assert refused.value.evolutions == (TableEvolution(EVENTS.key.table, changes=(added,)),)
    assert (3, "new") in columns_of(ingests)
    assert not ingests.files.files


def test_a_write_schema_that_breaks_rules_leaves_no_table_and_no_column_behind(ingests: FakeIngests) -> None:
    required = replace(ID, is_required=True)
    made = write({}, required, NOTE, table=MISSING, create=TableLayout(), write_schema=("note",))
    evolved = write({}, ID, NEW, write_schema=("new", "nope"), place="/writes/1")
    bad = write({}, table=OTHERS.key.table, write_schema=("nope",), place="/writes/2")
    with pytest.raises(WriteSchemaInvalid) as refused:
        send(ingests, made, evolved, bad)
    reported = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    assert [(violation.place, violation.column, violation.rule) for violation in reported] == [
        ("", "id", WriteRule.REQUIRED_SKIPPED),
        ("/writes/1", "nope", WriteRule.UNKNOWN_COLUMN),
        ("/writes/2", "nope", WriteRule.UNKNOWN_COLUMN),
    ]
    assert (ingests.changes.evolved, ingests.changes.created) == ([], [])


def test_what_is_wrong_with_any_write_is_reported_with_all_the_rest(ingests: FakeIngests) -> None:
    newer = replace(OTHERS, key=TableKey(TableName("lake", "logs", "newer")), format_version=4)
    ingests.tables.put(newer)
    differs = write({}, Field(1, "id", STRING), place="/writes/0", write_schema=("nope",))
    made = write({}, table=MISSING, place="/writes/1", create=None)
    made = replace(made, schema=RequestedSchema(None, create=TableLayout()))
    bad = write({}, table=OTHERS.key.table, write_schema=("nope",), place="/writes/2")
    no_upsert = replace(write({}, table=OTHERS.key.table, place="/writes/3"), equality_fields=("id",))
    of_newer = write({}, table=newer.key.table, place="/writes/4")
    with pytest.raises(IngestInvalid) as refused:
        send(ingests, differs, made, bad, no_upsert, of_newer)
    assert refused.value.code == "INGEST_INVALID"
    # Demands on the columns of a table that is not known yet are not reported, as they may be right.
    assert [
        (type(violation), violation.place)
        for violation in refused.value.violations
        if hasattr(violation, "place")
    ] == [
        (SchemaDifference, "/writes/0"),
        (CreationFault, "/writes/1/schema"),
        (Violation, "/writes/2"),
        (WriteFault, "/writes/3/equalityFields"),
        (WriteFault, "/writes/4"),
    ]
    assert (ingests.changes.evolved, ingests.changes.created) == ([], [])


def test_fields_that_are_new_go_by_their_names_until_they_have_ids(ingests: FakeIngests) -> None:
    # The table once dropped columns, so new ids do not directly follow the existing ones.
    ingests.changes.evolve(EVENTS, [AddField((), Field(0, "place", Struct((Field(0, "city", STRING),))))])
    place = Field(3, "place", Struct((Field(4, "city", STRING), Field(0, "zip", LONG))))
    dropped = replace(ingests.tables.writable(EVENTS.key.table, "main"), schema=with_columns(ID, NOTE).schema)
    ingests.tables.put(dropped)
    ingests.changes.evolved.clear()
    part = Field(5, "place", Struct((Field(7, "zip", LONG),)))
    asked = write({"place": {"zip": 1}}, ID, place)
    with pytest.raises(WriteSchemaInvalid, match="has no field 9"):
        send(ingests, replace(asked, write_schema=ColumnFields((replace(NOTE, field_id=9),))))
    assert ingests.changes.evolved == []
    send(ingests, replace(asked, write_schema=ColumnFields((part, ID))))
    [result] = [result for one in ingests.commits.rounds for result in one.write_results]
    assert result.target.write_schema_column_ids == (7, 1)


def test_columns_that_are_inferred_may_be_new(ingests: FakeIngests) -> None:
    asked = replace(write({"new": "a"}, ID, NEW), write_schema=InferredColumns.INFER)
    send(ingests, asked)
    [result] = [result for one in ingests.commits.rounds for result in one.write_results]
    assert result.target.write_schema_column_ids == (3,)


def test_a_missing_table_is_made_and_written_to(ingests: FakeIngests) -> None:
    layout = TableLayout(
        (PartitionField("", "day", "identity"), PartitionField("", "place.city", "bucket[8]")),
        (SortField("id", "identity", "desc", "nulls-last"),),
        {"comment": "ours"},
    )
    columns = (ID, Field(2, "day", Primitive("date")), Field(3, "place", Struct((Field(4, "city", STRING),))))
    record = {"id": 1, "day": "2026-01-01", "place": {"city": "Rome"}}
    send(ingests, write(record, *columns, table=MISSING, create=layout, evolves=False))
    table = ingests.tables.writable(MISSING, "main")
    assert [field.name for field in table.partition_fields] == ["day", "place.city_bucket"]
    assert ingests.changes.created == [MISSING]
    send(ingests, write(record, *columns, table=MISSING, create=TableLayout(), evolves=False))
    assert ingests.changes.created == [MISSING]
    assert len(ingests.files.files) == 2


def test_a_later_write_may_evolve_what_an_earlier_one_has_made(ingests: FakeIngests) -> None:
    send(
        ingests,
        write({"id": 1}, ID, table=MISSING, create=TableLayout()),
        write({"new": "a"}, ID, NEW, table=MISSING),
        write({"id": 2}, table=MISSING, write_schema=("id",)),
    )
    assert columns_of(ingests, MISSING) == [(1, "id"), (2, "new")]


def test_of_two_who_make_a_table_one_does_and_the_other_goes_on(ingests: FakeIngests) -> None:
    mine = write({"id": 1}, ID, table=MISSING, create=TableLayout())
    theirs = write({"note": "a", "id": 2}, ID, NOTE, table=MISSING, create=TableLayout())
    ingests.changes.before = lambda: send(ingests, theirs)
    send(ingests, mine)
    assert ingests.changes.created == [MISSING]
    assert columns_of(ingests, MISSING) == [(1, "id"), (2, "note")]
    assert len(ingests.files.files) == 2


def test_a_missing_table_that_nobody_asks_for_is_reported_before_any_other_is_made(
    ingests: FakeIngests,
) -> None:
    made = write({"id": 1}, ID, table=MISSING, create=TableLayout())
    with pytest.raises(TableNotFound):
        send(ingests, made, write({"id": 1}, ID, table=TableName("lake", "new", "others")))
    assert not ingests.changes.created


def test_a_missing_table_is_reported_together_with_what_else_is_wrong(ingests: FakeIngests) -> None:
    nothing = replace(write({"id": 1}, table=TableName("lake", "new", "others")), place="/writes/0")
    wrong = replace(write({"id": 1}, write_schema=("id", "nothing")), place="/writes/1")
    with pytest.raises(IngestInvalid) as refused:
        send(ingests, nothing, wrong)
    assert refused.value.code == "INGEST_INVALID"
    [unknown, missing] = refused.value.violations
    assert isinstance(unknown, Violation)
    assert (unknown.place, unknown.column) == ("/writes/1", "nothing")
    assert isinstance(missing, WriteFault)
    assert missing.place == "/writes/0/table"
    assert missing.reason.startswith("There is no table lake.new.others.")
    assert not ingests.files.files


def test_all_missing_tables_are_reported(ingests: FakeIngests) -> None:
    names = [TableName("lake", "new", name) for name in ("a", "b")]
    with pytest.raises(TableNotFound) as refused:
        send(ingests, write({"id": 1}), *(write({"id": 1}, table=name) for name in names))
    assert [other.table for other in (refused.value, *refused.value.others)] == list(map(str, names))


def test_a_table_is_made_from_a_schema_only(ingests: FakeIngests) -> None:
    create = RequestedSchema(None, create=TableLayout())
    with pytest.raises(CreationInvalid, match="needs at least one column"):
        send(ingests, replace(write({"id": 1}, table=MISSING), schema=create))
    send(ingests, replace(write({"id": 1}), schema=create))
    assert len(ingests.files.files) == 1


def test_what_is_there_and_no_table_is_reported(ingests: FakeIngests) -> None:
    ingests.changes.never = True
    with pytest.raises(CreationInvalid, match="is not a table that can be written to"):
        send(ingests, write({"id": 1}, ID, table=MISSING, create=TableLayout()))


@pytest.mark.parametrize("part", ["..", "a/b", "a b", "", "ä", "a%2fb", "-x", "a\\b", "x" * 129])
def test_no_name_leads_out_of_the_warehouse(ingests: FakeIngests, part: str) -> None:
    for name in (TableName("lake", "logs", part), TableName("lake", f"logs.{part}", "t")):
        with pytest.raises(CreationInvalid):
            send(ingests, write({"id": 1}, ID, table=name, create=TableLayout()))
    assert not ingests.changes.created


def test_every_reason_why_a_table_cannot_be_made_is_reported(ingests: FakeIngests) -> None:
    layout = TableLayout(
        (PartitionField("", "nope", "identity"), PartitionField("", "note", "day")),
        (SortField("note", "bucket[0]", "asc", "nulls-first"),),
        {"write.data.path": "s3://elsewhere", "format-version": "3"},
    )
    name = TableName("lake", "logs", "a/b")
    columns = (ID, NOTE, Field(3, "Note", STRING))
    with pytest.raises(CreationInvalid) as refused:
        send(ingests, write({"id": 1}, *columns, table=name, create=layout, place="/writes/0"))
    reported = [
        violation.place for violation in refused.value.violations if isinstance(violation, CreationFault)
    ]
    assert reported == [
        "/writes/0/table",
        "/writes/0/schema",
        "/writes/0/create/partitionSpec/0/source",
        "/writes/0/create/partitionSpec/1/transform",
        "/writes/0/create/sortOrder/0/transform",
        "/writes/0/create/properties/write.data.path",
        "/writes/0/create/properties/format-version",
    ]


def _refused_by(rules: ChangeRules, *writes: Write) -> FakeIngests:
    ingests = FakeIngests(EVENTS, OTHERS, change_rules=rules)
    try:
        send(ingests, *writes)
    finally:
        ingests.close(WITHIN_S)
    return ingests


def test_the_operator_says_which_tables_are_made_and_changed() -> None:
    creates = write({"id": 1}, ID, table=MISSING, create=TableLayout())
    evolves = write({"id": 1}, ID, NEW)
    with pytest.raises(WriteNotAllowed, match=r"no table lake\.new\.events, and callers may not create it"):
        _refused_by(ChangeRules(creatable_names=("lake.logs.*",)), creates)
    with pytest.raises(WriteNotAllowed, match=r"may not change the schema of lake\.logs\.events"):
        _refused_by(ChangeRules(evolvable_names=()), evolves)
    # A request that needs no change is allowed.
    _refused_by(ChangeRules((), ()), write({"id": 1}, ID, NOTE, create=TableLayout()))
    with pytest.raises(IngestInvalid, match="would have 3 fields; at most 2"):
        _refused_by(ChangeRules(max_fields=2), evolves)
    with pytest.raises(IngestInvalid, match="would have 3 fields; at most 2"):
        _refused_by(ChangeRules(max_fields=2), write({}, ID, NOTE, NEW, table=MISSING, create=TableLayout()))


def test_a_schema_of_too_many_fields_is_not_even_compared() -> None:
    many = [Field(0, f"c{number}", LONG) for number in range(100_000)]
    with pytest.raises(IngestInvalid, match="would have 100001 fields; at most 10000"):
        _refused_by(ChangeRules(), write({"id": 1}, ID, *many))
    with pytest.raises(IngestInvalid, match="would have 100000 fields; at most 10000"):
        _refused_by(ChangeRules(), write({}, *many, table=MISSING, create=TableLayout()))
    # The table already has that many fields.
    _refused_by(ChangeRules(max_fields=1), write({"id": 1}, ID, NOTE))


def test_a_required_column_may_be_left_out_when_the_request_lets_it_become_optional() -> None:
    table = with_columns(replace(ID, is_required=True), NOTE)
    ingests = FakeIngests(table)
    send(ingests, write({"note": "a"}, NOTE, write_schema=("note",), drops_required=True))
    [change] = [change for _, changes in ingests.changes.evolved for change in changes]
    assert change == MakeOptional(("id",))
    ingests.close(WITHIN_S)


def test_adding_a_column_takes_the_column_alone_and_leaves_required_ones_as_they_are() -> None:
    many = tuple(Field(number, f"c{number}", STRING, is_required=number < 4) for number in range(2, 500))
    ingests = FakeIngests(with_columns(replace(ID, is_required=True), *many))
    send(ingests, write({"id": 1, "c2": "a", "c3": "b", "new": "x"}, NEW))
    [change] = [change for _, changes in ingests.changes.evolved for change in changes]
    assert isinstance(change, AddField)
    ingests.close(WITHIN_S)


def test_a_record_that_lacks_what_is_required_says_how_a_column_becomes_optional() -> None:
    ingests = FakeIngests(with_columns(replace(ID, is_required=True), NOTE))
    with pytest.raises(RecordsInvalid, match="dropRequired") as refused:
        send(ingests, write({"note": "a", "new": "b"}, NEW))
    assert [
        violation.reason for violation in refused.value.violations if isinstance(violation, BadRecord)
    ] == ["id is required"]
    with pytest.raises(WriteSchemaInvalid, match="dropRequired"):
        send(ingests, write({"note": "a"}, NOTE, write_schema=("note",)))
    with pytest.raises(RecordsInvalid) as without_schema:
        send(ingests, write({"note": "a"}))
    assert "dropRequired" not in without_schema.value.detail
    ingests.close(WITHIN_S)


def test_columns_of_tables_of_version_3_are_left_alone() -> None:
    table: WritableTable = replace(EVENTS, format_version=3)
    ingests = FakeIngests(table)
    with pytest.raises(IngestInvalid, match="format version 3"):
        send(ingests, write({"new": "a"}, ID, NEW))
    assert not ingests.changes.evolved
    ingests.close(WITHIN_S)


BY_ID = SortField("id", "identity", "asc", "nulls-first")
BY_NOTE, BY_NEW = replace(BY_ID, source="note", direction="desc"), replace(BY_ID, source="new")


def sorted_by(asked: Write, *fields: SortField) -> Write:
    return replace(asked, sort_order=fields)


def orders_of(ingests: FakeIngests, name: TableName = EVENTS.key.table) -> dict[int, tuple[SortField, ...]]:
    return {order.order_id: order.fields for order in ingests.tables.writable(name, "main").sort_orders}


def targets_of(ingests: FakeIngests) -> list[tuple[tuple[int, ...] | None, int | None]]:
    targets = [result.target for one in ingests.commits.rounds for result in one.write_results]
    return [(target.write_schema_column_ids, target.sort_order_id) for target in targets]


def test_sort_orders_that_writes_ask_for_are_made_known_once(ingests: FakeIngests) -> None:
    asked = (
        sorted_by(write({"id": 1}, write_schema=("id",)), BY_ID),
        sorted_by(write({"id": 2, "note": "a"}, write_schema=("note", "id")), BY_NOTE, BY_ID),
        sorted_by(write({"id": 3}, write_schema=("id",))),
        write({"id": 4}, write_schema=("id",)),
    )
    for _ in range(2):
        send(ingests, *asked)
    assert orders_of(ingests) == {1: (BY_ID,), 2: (BY_NOTE, BY_ID)}
    assert targets_of(ingests)[:4] == [((1,), 1), ((2, 1), 2), ((1,), 0), ((1,), None)]
    assert ingests.changes.evolved == []
    assert ingests.tables.writable(EVENTS.key.table, "main").sort_fields == EVENTS.sort_fields


def test_rows_may_be_sorted_by_a_column_that_comes_with_them(ingests: FakeIngests) -> None:
    asked = write({"id": 1, "new": "a"}, ID, NEW, write_schema=("id", "new"))
    [evolution] = send(ingests, sorted_by(asked, BY_NEW))
    assert [change.column for change in evolution.changes] == ["new"]
    assert orders_of(ingests) == {1: (BY_NEW,)}
    assert targets_of(ingests) == [((1, 3), 1)]


def test_a_table_that_is_made_knows_its_own_order_and_those_of_its_writes(ingests: FakeIngests) -> None:
    creates = write({"id": 1}, ID, NOTE, table=MISSING, create=TableLayout(sort_fields=(BY_ID,)))
    send(ingests, sorted_by(creates, BY_NOTE), sorted_by(creates, BY_ID))
    assert orders_of(ingests, MISSING) == {1: (BY_ID,), 2: (BY_NOTE,)}
    assert sorted(order or 0 for _, order in targets_of(ingests)) == [1, 2]


def test_another_writer_may_make_an_order_known_first(ingests: FakeIngests) -> None:
    ingests.changes.before = lambda: ingests.changes.add_sort_orders(EVENTS, [(BY_NOTE,), (BY_ID,)])
    send(ingests, sorted_by(write({"id": 1}), BY_ID))
    assert orders_of(ingests) == {1: (BY_NOTE,), 2: (BY_ID,)}
    assert targets_of(ingests) == [(None, 2)]


@pytest.mark.parametrize(
    ("field", "place"),
    [
        (replace(BY_ID, source="nobody"), "source"),
        (replace(BY_ID, transform="days"), "transform"),
        (replace(BY_NOTE, transform="year"), "transform"),
        (replace(BY_ID, transform="bucket[0]"), "transform"),
    ],
)
def test_an_order_that_rows_cannot_be_in_is_reported_with_what_else_is_wrong(
    ingests: FakeIngests, field: SortField, place: str
) -> None:
    asked = sorted_by(write({"id": 1}, write_schema=("id", "unheard"), place="/writes/0"), BY_ID, field)
    with pytest.raises(IngestInvalid) as refused:
        send(ingests, asked)
    faults = [violation.place for violation in refused.value.violations if isinstance(violation, WriteFault)]
    assert faults == [f"/writes/0/sortOrder/1/{place}"]
    rules = [violation.rule for violation in refused.value.violations if isinstance(violation, Violation)]
    assert WriteRule.UNKNOWN_COLUMN in rules
    assert orders_of(ingests) == {}


def test_an_order_of_columns_that_are_not_written_is_refused_before_it_is_made_known(
    ingests: FakeIngests,
) -> None:
    with pytest.raises(WriteSchemaInvalid, match="to be sorted by note"):
        send(ingests, sorted_by(write({"id": 1}, write_schema=("id",)), BY_NOTE))
    assert orders_of(ingests) == {}


def test_callers_bring_a_table_to_so_many_sort_orders_as_the_operator_allows() -> None:
    both = [sorted_by(write({"id": 1}), sort_field) for sort_field in (BY_ID, BY_NOTE)]
    with pytest.raises(IngestInvalid, match="would have 2 sort orders; callers may add up to 1"):
        _refused_by(ChangeRules(max_sort_orders=1), *both)
    one = _refused_by(ChangeRules(max_sort_orders=1), both[0], sorted_by(write({"id": 2})))
    assert orders_of(one) == {1: (BY_ID,)}
    creates = write({}, ID, table=MISSING, create=TableLayout(sort_fields=(BY_ID,)))
    with pytest.raises(IngestInvalid, match="would have 2 sort orders"):
        _refused_by(ChangeRules(max_sort_orders=1), sorted_by(creates, replace(BY_ID, direction="desc")))
