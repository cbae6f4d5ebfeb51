"""Which tables may be created: transforms, names and properties."""

from __future__ import annotations

import pytest

from service.ingest.schema_changes.layout_faults import layout_faults
from service.ingest.schema_changes.provisional_ids import with_provisional_ids
from service.ingest.schema_changes.table_properties import refused_properties
from service.model.tables.schemas import Field, ListOf, Primitive, Struct
from service.model.tables.table_creation import TableLayout
from service.model.tables.tables import PartitionField, SortField

STRING = Primitive("string")
COLUMNS = (
    Field(1, "id", Primitive("long")),
    Field(2, "at", Primitive("timestamptz")),
    Field(3, "place", Struct((Field(4, "city", STRING),))),
    Field(5, "tags", ListOf(Field(6, "element", STRING))),
    Field(7, "at_day", STRING),
)


@pytest.mark.parametrize(
    ("transform", "types", "others"),
    [
        ("identity", ["int", "string", "decimal(9, 2)", "binary", "boolean", "double"], ["uuid", "fixed[3]"]),
        ("bucket[16]", ["int", "long", "decimal(9, 2)", "date", "time", "uuid", "fixed[3]"], ["float"]),
        ("truncate[4]", ["int", "long", "decimal(9, 2)", "string", "binary"], ["uuid", "date", "double"]),
        ("year", ["date", "timestamp", "timestamptz"], ["time", "string", "long"]),
        ("hour", ["timestamp", "timestamptz"], ["date"]),
        ("void", ["string"], []),
        ("bucket", [], ["int"]),
        ("bucket[0]", [], ["int"]),
        ("bucket[-1]", [], ["int"]),
        ("bucket[8", [], ["int"]),
        ("days", [], ["date"]),
        ("Day", [], ["date"]),
        ("day[1]", [], ["date"]),
        ("", [], ["date"]),
    ],
)
def test_transforms_are_those_whose_partitions_can_be_written_and_read(
    transform: str, types: list[str], others: list[str]
) -> None:
    def faults(kind: str) -> list[str]:
        layout = TableLayout((PartitionField("p", "x", transform),))
        return [place for place, _ in layout_faults((Field(1, "x", Primitive(kind)),), layout)]

    assert [kind for kind in types if faults(kind)] == []
    assert [faults(other) for other in others] == [["partitionSpec/0/transform"]] * len(others)


def test_what_has_no_one_order_is_not_sorted_by() -> None:
    columns = (Field(1, "u", Primitive("uuid")), Field(2, "f", Primitive("fixed[3]")))
    fields = [SortField(column.name, "identity", "asc", "nulls-first") for column in columns]
    faults = list(layout_faults(columns, TableLayout((), tuple(fields))))
    assert faults == [("sortOrder/0/transform", "identity cannot be made of uuid")]


@pytest.mark.parametrize(
    ("field", "place"),
    [
        (PartitionField("", "nope", "identity"), "partitionSpec/0/source"),
        (PartitionField("", "place", "identity"), "partitionSpec/0/source"),
        (PartitionField("", "tags.element", "identity"), "partitionSpec/0/source"),
        (PartitionField("", "id", "day"), "partitionSpec/0/transform"),
        # Its default name is `at_day`, which is also a column.
        (PartitionField("", "at", "day"), "partitionSpec/0/name"),
        (PartitionField("id", "at", "identity"), "partitionSpec/0/name"),
        (PartitionField("ID", "id", "bucket[2]"), "partitionSpec/0/name"),
    ],
)
def test_a_partition_field_that_cannot_be_is_reported(field: PartitionField, place: str) -> None:
    assert [where for where, _ in layout_faults(COLUMNS, TableLayout((field,)))] == [place]


def test_a_column_is_not_partitioned_by_twice_alike() -> None:
    fields = (PartitionField("a", "id", "bucket[8]"), PartitionField("b", "id", "bucket[4]"))
    faults = list(layout_faults(COLUMNS, TableLayout(fields)))
    assert faults == [("partitionSpec/1/transform", "id is partitioned by bucket already")]


def test_a_layout_that_can_be_has_no_faults() -> None:
    layout = TableLayout(
        (
            PartitionField("", "id", "identity"),
            PartitionField("", "id", "bucket[8]"),
            PartitionField("day", "at", "day"),
            PartitionField("", "place.city", "truncate[3]"),
        ),
        (SortField("place.city", "identity", "asc", "nulls-first"),),
    )
    assert list(layout_faults(COLUMNS, layout)) == []


@pytest.mark.parametrize(
    "name",
    [
        "location",
        "write.data.path",
        "write.metadata.path",
        "write.folder-storage.path",
        "write.object-storage.path",
        "write.location-provider.impl",
        "write.py-location-provider.impl",
        "py-io-impl",
        "io-impl",
        "s3.endpoint",
        "s3.access-key-id",
        "uri",
        "commit.retry.num-retries",
        "write.parquet.bloom-filter-max-bytes",
        "write.parquet.bloom-filter-ndv.column.id",
        "sluice.last-commit-round.main",
        "schema.name-mapping.default",
        "encryption.key-id",
        "provider",
        "user.",
        "anything",
        "",
    ],
)
def test_properties_that_choose_code_or_places_are_refused(name: str) -> None:
    assert [refused for refused, _ in refused_properties({name: "x"})] == [name]


def test_properties_are_taken_that_only_say_how_files_look() -> None:
    taken = {
        "write.target-file-size-bytes": "1",
        "write.parquet.compression-codec": "zstd",
        "write.parquet.bloom-filter-enabled.column.id": "true",
        "write.metadata.metrics.column.place.city": "none",
        "write.object-storage.enabled": "true",
        "user.team": "games",
        "comment": "ours",
        "format-version": "2",
        "write.format.default": "parquet",
    }
    assert list(refused_properties(taken)) == []
    wrong = {"format-version": "3", "write.format.default": "orc", "comment": "x" * 1025}
    assert [name for name, _ in refused_properties(wrong)] == list(wrong)


@pytest.mark.parametrize(
    ("name", "taken", "refused", "words"),
    [
        (
            "write.metadata.previous-versions-max",
            ["1", "100", "2147483647"],
            ["abc", "", "0", "-1", "1.5", "1_0", "2147483648", "9" * 40, " 1", "1\n", "\u0661"],
            "a whole number from 1 to 2147483647",
        ),
        (
            "write.object-storage.enabled",
            ["true", "False"],
            ["yes please", "yes", "1", "", "true\n"],
            "one of true, false",
        ),
        (
            "write.parquet.compression-codec",
            ["zstd", "SNAPPY", "uncompressed"],
            ["zip", "lzo", ""],
            "one of zstd, gzip",
        ),
        ("write.parquet.compression-level", ["0", "22"], ["23", "-1", "fast"], "from 0 to 22"),
        ("write.target-file-size-bytes", ["1", str(2**63 - 1)], [str(2**63), "128MB"], "a whole number"),
        ("write.metadata.compression-codec", ["gzip", "none"], ["zstd"], "one of none, gzip"),
        ("write.distribution-mode", ["hash"], ["random"], "one of none, hash, range"),
        ("write.update.mode", ["merge-on-read"], ["copy"], "one of copy-on-write, merge-on-read"),
        (
            "write.metadata.metrics.column.a.b",
            ["truncate(16)", "counts", "Full"],
            ["truncate", "truncate(0)", "truncate(x)", "counts,full"],
            "one of none, counts, full, truncate",
        ),
        ("write.parquet.bloom-filter-enabled.column.id", ["true"], ["on"], "one of true, false"),
        ("owner", ["any one"], ["x" * 1025], "1024 characters"),
        ("user.team", ["any one"], ["x" * 1025], "1024 characters"),
    ],
)
def test_a_property_has_a_value_that_every_library_can_read(
    name: str, taken: list[str], refused: list[str], words: str
) -> None:
    assert [value for value in taken if list(refused_properties({name: value}))] == []
    reasons = {value: [reason for _, reason in refused_properties({name: value})] for value in refused}
    assert [
        value for value, reported in reasons.items() if len(reported) != 1 or words not in reported[0]
    ] == []


def test_all_properties_that_cannot_be_are_reported_at_once() -> None:
    asked = {"gc.enabled": "maybe", "write.data.path": "x", "comment": "ours", "write.merge.mode": "no"}
    assert [name for name, _ in refused_properties(asked)] == [
        "gc.enabled",
        "write.data.path",
        "write.merge.mode",
    ]


def test_ids_are_given_to_every_field_and_identifiers_follow() -> None:
    list_type = {"type": "list", "element-id": 9, "element": {"type": "struct", "fields": [{"name": "x"}]}}
    map_type = {"type": "map", "key": "string", "value": "int"}
    schema = {
        "type": "struct",
        "identifier-field-ids": [0, 3, 4, 5],
        "fields": [
            {"name": "l", "type": list_type, "id": 3},
            {"name": "m", "type": map_type},
            {"name": "id", "id": 0},
            {"name": "a", "id": 4},
            {"name": "b", "id": 4},
        ],
    }
    made = with_provisional_ids(schema)
    assert [field["id"] for field in made["fields"]] == [1, 4, 7, 8, 9]
    assert made["fields"][0]["type"]["element-id"] == 2
    assert made["fields"][0]["type"]["element"]["fields"] == [{"name": "x", "id": 3}]
    assert (made["fields"][1]["type"]["key-id"], made["fields"][1]["type"]["value-id"]) == (5, 6)
    # No field has the id 5, and two have 4. The strings remain, and the reader rejects them.
    assert made["identifier-field-ids"] == [7, 1, "4", "5"]
    assert schema["fields"][2] == {"name": "id", "id": 0}


def test_a_schema_without_end_is_left_to_the_reader() -> None:
    kind: object = "int"
    for _ in range(5000):
        kind = {"type": "list", "element": kind}
    assert with_provisional_ids({"fields": [{"name": "a", "type": kind}]})["fields"][0]["id"] == 1


@pytest.mark.parametrize("json", [{}, {"fields": 1}, {"fields": [1]}, {"fields": [{"type": {"type": 1}}]}])
def test_what_is_no_schema_is_left_to_the_reader(json: dict[str, object]) -> None:
    assert isinstance(with_provisional_ids(json), dict)
