"""Which fields identify an upsert's rows, and which requests are refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from service.errors.ingest_errors import IngestInvalid, WriteSchemaInvalid
from service.ingest.write_schema.resolve_targets import resolve_targets
from service.model.ingest.ingest_request import (
    ColumnNames,
    InferredColumns,
    IngestRequest,
    RequestedWriteSchema,
    Violation,
    Write,
    WriteFault,
    WriteRule,
)
from service.model.ingest.writing import TableKey, WritableTable, WriteTarget
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.schemas import Field, Primitive, Struct
from service.model.tables.tables import PartitionField, TableName
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import ID, TABLE, with_columns

WITHIN_S = 20
DAY = {"day": "2026-01-01"}
WITH_IDENTIFIER = replace(TABLE, schema=replace(TABLE.schema, identifier_field_ids=frozenset({1, 2})))
BARE = replace(TABLE, partition_fields=())


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE)
    yield made
    made.close(WITHIN_S)


def upsert(
    *fields: str,
    columns: RequestedWriteSchema = None,
    table: WritableTable = TABLE,
    place: str = "",
) -> Write:
    records = [{"id": 1, **DAY}]
    return Write(table.key, records, columns, place, is_upsert=True, equality_fields=fields or None)


def targets(
    writes: Sequence[Write], tables: Mapping[TableKey, WritableTable], *, are_routed: bool = False
) -> list[WriteTarget]:
    present = [{name for record in write.records for name in record} for write in writes]
    return [target.target for target in resolve_targets(writes, tables, present, are_routed=are_routed)]


def target(write: Write, table: WritableTable = TABLE) -> WriteTarget:
    [found] = targets([write], {write.key: table})
    return found


def reported(write: Write, table: WritableTable) -> list[tuple[str, str]]:
    with pytest.raises(IngestInvalid) as refused:
        targets([write], {write.key: table})
    return [
        (violation.place, violation.reason)
        for violation in refused.value.violations
        if isinstance(violation, WriteFault)
    ]


def violations(write: Write, table: WritableTable = TABLE) -> list[tuple[str, WriteRule]]:
    with pytest.raises(WriteSchemaInvalid) as refused:
        targets([write], {write.key: table})
    found = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    return [(violation.column, violation.rule) for violation in found]


def test_equality_fields_are_part_of_the_target_in_the_order_of_their_ids() -> None:
    found = target(upsert("day", "id"))
    assert (found.is_upsert, found.equality_field_ids) == (True, (1, 2))
    assert found.write_schema_column_ids is None


def test_without_names_they_are_the_tables_identifier_fields() -> None:
    assert target(upsert(), WITH_IDENTIFIER).equality_field_ids == (1, 2)
    assert violations(upsert()) == [("", WriteRule.NO_EQUALITY_FIELDS)]
    nothing = replace(upsert(), equality_fields=())
    assert violations(nothing, WITH_IDENTIFIER) == [("", WriteRule.NO_EQUALITY_FIELDS)]


def test_an_append_has_none() -> None:
    append = replace(upsert("id"), is_upsert=False)
    with pytest.raises(IngestInvalid, match="Only an upsert"):
        targets([append], {append.key: TABLE})
    assert target(replace(append, equality_fields=None), WITH_IDENTIFIER).equality_field_ids == ()


def test_a_field_inside_a_struct_is_none() -> None:
    """By such a field, Iceberg's readers would delete rows with other values."""
    assert violations(upsert("id", "day", "place.city")) == [("place.city", WriteRule.NOT_AN_EQUALITY_FIELD)]
    assert target(upsert("id", "day", "user.name")).equality_field_ids == (1, 2, 7)


@pytest.mark.parametrize("name", ["place", "tags", "counts"])
def test_what_has_fields_of_its_own_is_no_equality_field(name: str) -> None:
    assert violations(upsert("id", "day", name)) == [(name, WriteRule.NOT_AN_EQUALITY_FIELD)]


@pytest.mark.parametrize("kind", ["float", "double"])
def test_floating_point_numbers_are_none(kind: str) -> None:
    table = with_columns(ID, Field(9, "x", Primitive(kind)))
    assert violations(upsert("id", "x"), table) == [("x", WriteRule.NOT_AN_EQUALITY_FIELD)]


def test_what_lies_in_a_list_is_none() -> None:
    assert violations(upsert("day", "tags.element.name")) == [("tags.element.name", WriteRule.NOT_A_STRUCT)]


def test_an_unknown_or_repeated_name_is_reported() -> None:
    assert violations(upsert("day", "ids", "day")) == [
        ("ids", WriteRule.UNKNOWN_COLUMN),
        ("day", WriteRule.REPEATED_COLUMN),
    ]


def test_the_partitions_sources_have_to_be_among_them_whatever_is_written() -> None:
    expected = [("day", WriteRule.PARTITION_SOURCE_NOT_EQUALITY_FIELD)]
    assert violations(upsert("id")) == expected
    assert violations(upsert("id", columns=ColumnNames(("id", "day")))) == expected
    assert target(upsert("id"), BARE).equality_field_ids == (1,)
    hidden = replace(TABLE, partition_fields=(PartitionField("part", "id", "bucket[8]"),))
    assert target(upsert("id"), hidden).equality_field_ids == (1,)


@pytest.mark.parametrize(
    ("source", "kind", "reason"),
    [("place.zip", Primitive("string"), "is inside a struct"), ("x", Primitive("double"), "is a double")],
)
def test_a_table_that_is_partitioned_by_what_is_no_equality_field_takes_no_upserts(
    source: str, kind: Primitive, reason: str
) -> None:
    field = Field(9, source.rpartition(".")[2], kind)
    column = field if source == "x" else Field(8, "place", Struct((field,)))
    table = replace(with_columns(ID, column), partition_fields=(PartitionField("p", source, "identity"),))
    for fields in (("id",), ("id", source)):
        [(place, detail)] = reported(upsert(*fields, place="/writes/1"), table)
        assert place == "/writes/1/mode"
        assert "takes no upserts" in detail
        assert f"partitioned by {source}, which {reason}" in detail
    hidden = replace(table, partition_fields=(PartitionField("p", source, "void"),))
    assert target(upsert("id"), hidden).equality_field_ids == (1,)


def test_what_is_wrong_with_them_is_distinguished_from_the_write_schema() -> None:
    def parts(write: Write) -> list[tuple[str, bool]]:
        with pytest.raises(WriteSchemaInvalid) as refused:
            targets([write], {write.key: TABLE})
        found = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
        return [(violation.column, violation.is_of_equality_fields) for violation in found]

    assert parts(upsert()) == [("", True)]
    assert parts(upsert("ids", "place", "place")) == [
        ("ids", True),
        ("place", True),
        ("place", True),
        ("day", True),
    ]
    both = upsert("id", "note", columns=ColumnNames(("id", "day", "nope")))
    assert parts(both) == [("nope", False), ("note", False), ("day", True)]


def test_they_have_to_be_written() -> None:
    narrow = upsert("id", "day", "note", columns=ColumnNames(("id", "day")))
    assert violations(narrow) == [("note", WriteRule.EQUALITY_FIELD_SKIPPED)]
    inferred = target(upsert("id", "day", "note", columns=InferredColumns.INFER))
    assert inferred.write_schema_column_ids == (1, 2, 6)


def test_what_is_wrong_with_the_write_schema_is_reported_with_them() -> None:
    assert violations(upsert("day", "ids", columns=ColumnNames(("id", "day", "nope")))) == [
        ("ids", WriteRule.UNKNOWN_COLUMN),
        ("nope", WriteRule.UNKNOWN_COLUMN),
    ]
    # The known fields are checked as well.
    assert violations(upsert("id", "note", "nope", columns=ColumnNames(("id", "day")))) == [
        ("nope", WriteRule.UNKNOWN_COLUMN),
        ("note", WriteRule.EQUALITY_FIELD_SKIPPED),
        ("day", WriteRule.PARTITION_SOURCE_NOT_EQUALITY_FIELD),
    ]


def test_a_table_of_version_1_takes_none() -> None:
    with pytest.raises(IngestInvalid, match="format version 1"):
        targets([upsert("id", "day")], {TABLE.key: replace(TABLE, format_version=1)})


def test_writes_of_a_request_may_be_upserts_of_several_kinds_but_routes_may_not() -> None:
    writes = [upsert("id", "day", place="/writes/0"), replace(upsert(), is_upsert=False)]
    other_columns = upsert("id", "day", columns=ColumnNames(("id", "day")))
    other_keys = upsert("id", "day", "note")
    for other in (writes[1], other_columns, other_keys):
        first, second = targets([writes[0], other], {TABLE.key: TABLE})
        assert first != second
        with pytest.raises(IngestInvalid, match="2 kinds"):
            targets([writes[0], other], {TABLE.key: TABLE}, are_routed=True)
    first, second = targets([writes[0], writes[0]], {TABLE.key: TABLE}, are_routed=True)
    assert first == second
    branch = replace(TABLE.key, branch="audit")
    elsewhere = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")))
    fine = [writes[0], replace(writes[0], key=branch), replace(writes[1], key=elsewhere.key)]
    tables: dict[TableKey, WritableTable] = {
        TABLE.key: TABLE,
        branch: replace(TABLE, key=branch),
        elsewhere.key: elsewhere,
    }
    assert [target.is_upsert for target in targets(fine, tables, are_routed=True)] == [True, True, False]


def test_the_record_of_an_ingest_says_by_which_fields_rows_were_replaced(ingests: FakeIngests) -> None:
    accepted = ingests.accept(IngestRequest((upsert("id", "day"),), "f"), "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    [commit] = ingests.find(accepted.record.ingest_id, "ann").commits
    assert [target.equality_field_ids for target in commit.targets] == [(1, 2)]
