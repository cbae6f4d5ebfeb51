"""Which advice a layout and a workload get, on layouts that are written by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from service.advice.advice_options import AdviceOptions
from service.advice.advise import advise
from service.advice.coded_layout import coded_layout
from service.advice.partition_keys import partition_keys
from service.errors.table_errors import LayoutUnknown
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, TableAdvice
from service.model.query.scan_metrics import ScanRecord, Selection
from service.model.query.scan_predicates import ScanPredicate, ValueRange
from service.model.tables.table_layout import FileBounds, LayoutFile, RowSample, TableLayout
from service.model.tables.tables import PartitionField, TableName
from tests.fakes.query_records import scan

SALES = TableName("lake", "shop", "sales")
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
OPTIONS = AdviceOptions(min_file_bytes=1_000)
FILES, ROWS_OF_A_FILE, FILE_BYTES = 10, 200, 10_000


def layout_of(column: str, values: list[int | None], **changed: object) -> TableLayout:
    """Returns a layout whose sample is the whole table: these values, file after file."""
    files = []
    for start in range(0, len(values), ROWS_OF_A_FILE):
        known = [value for value in values[start : start + ROWS_OF_A_FILE] if value is not None]
        files.append(
            LayoutFile(
                byte_count=FILE_BYTES,
                record_count=ROWS_OF_A_FILE,
                row_group_count=4,
                bounds={column: FileBounds(min(known), max(known))} if known else {},
                without_values=frozenset() if known else frozenset({column}),
            )
        )
    layout = TableLayout(
        table=SALES,
        snapshot_id=1,
        files=files,
        sample=RowSample([row // ROWS_OF_A_FILE for row in range(len(values))], {column: values}),
        column_types={column: "long"},
        target_file_bytes=FILE_BYTES,
    )
    return replace(layout, **changed)  # type: ignore[arg-type]


def scan_of(column: str, *ranges: ValueRange, is_pruned: bool = False) -> ScanRecord:
    found = scan(str(SALES), 1, 1)
    if is_pruned:
        found = replace(found, metrics=replace(found.metrics, bytes=Selection(10, 1)))
    return replace(found, predicates=(ScanPredicate(column, ranges),)) if ranges else found


def shuffled(count: int = FILES * ROWS_OF_A_FILE) -> list[int | None]:
    values: list[int | None] = list(range(count))
    random.Random(1).shuffle(values)
    return values


def kinds(found: TableAdvice) -> set[AdviceKind]:
    return {advice.kind for advice in found.advice}


def of_kind(found: TableAdvice, kind: AdviceKind) -> LayoutAdvice:
    [advice] = [one for one in found.advice if one.kind is kind]
    return advice


def test_single_values_of_a_shuffled_column_are_found_in_one_file_or_row_group() -> None:
    scans = [scan_of("id", (id_, id_)) for id_ in range(100, 1_900, 100)]
    found = advise(layout_of("id", shuffled()), scans, SINCE, replace(OPTIONS, min_file_bytes=FILE_BYTES))
    assert found.simulated.byte_count == len(scans) * FILES * FILE_BYTES
    assert of_kind(found, AdviceKind.SORT).after.byte_count == len(scans) * FILE_BYTES
    # One row of one of forty row groups, and one of a hundred others by mistake.
    bloom = of_kind(found, AdviceKind.BLOOM_FILTER)
    assert bloom.saved_share == pytest.approx(1 - 1 / 40 - 0.01)
    assert bloom.after.file_count == bloom.before.file_count
    assert "write.parquet.bloom-filter-enabled.column.id" in bloom.statements[0]
    assert found.advice[0].saved_bytes == max(advice.saved_bytes for advice in found.advice)


def test_no_layout_helps_scans_without_conditions() -> None:
    found = advise(layout_of("id", shuffled()), [scan_of("id")] * 5, SINCE, OPTIONS)
    assert found.advice == ()
    assert found.simulated.byte_count == 5 * FILES * FILE_BYTES


def test_scans_whose_pruning_is_not_explained_are_left_out() -> None:
    scans = [scan_of("id", is_pruned=True), scan_of("other", (1, 1), is_pruned=True), scan_of("id", (1, 1))]
    found = advise(layout_of("id", shuffled()), scans, SINCE, OPTIONS)
    assert (found.workload.scan_count, found.workload.unexplained_count) == (1, 2)


def test_columns_that_cannot_be_compared_are_named() -> None:
    found = advise(layout_of("id", shuffled()), [scan_of("share", (0.5, 1.0))], SINCE, OPTIONS)
    assert found.notes == ("Columns that are not simulated: share.",)
    assert found.advice == ()


def test_values_of_another_type_than_the_column_select_every_file() -> None:
    found = advise(layout_of("id", shuffled()), [scan_of("id", ("a", "b"))], SINCE, OPTIONS)
    assert found.simulated.file_count == FILES


def test_null_is_in_no_range() -> None:
    values: list[int | None] = [None] * ROWS_OF_A_FILE + [*range(ROWS_OF_A_FILE)]
    found = advise(layout_of("id", values), [scan_of("id", (None, 5))], SINCE, OPTIONS)
    assert found.simulated.file_count == 1


def test_nothing_is_advised_where_the_present_is_not_simulated() -> None:
    layout = layout_of("id", shuffled(), is_simulated=False)
    found = advise(layout, [scan_of("id", (1, 1))], SINCE, OPTIONS)
    assert found.advice == ()
    assert "bucket" in found.notes[0]


def test_a_partition_field_that_is_there_is_not_advised_again() -> None:
    values: list[int | None] = [row % 10 for row in range(FILES * ROWS_OF_A_FILE)]
    scans = [scan_of("shop", (shop, shop)) for shop in range(10)]
    found = advise(layout_of("shop", values), scans, SINCE, OPTIONS)
    advice = of_kind(found, AdviceKind.PARTITION)
    assert advice.saved_share == pytest.approx(0.9)
    assert advice.statements[0] == "ALTER TABLE `lake`.`shop`.`sales` ADD PARTITION FIELD `shop`"
    present = [PartitionField("shop", "shop", "identity")]
    layout = layout_of("shop", values, partition_fields=present)
    assert AdviceKind.PARTITION not in kinds(advise(layout, scans, SINCE, OPTIONS))


def test_partitions_are_neither_too_many_nor_too_small() -> None:
    scans = [scan_of("id", (1, 1))]
    layout = layout_of("id", shuffled())
    assert AdviceKind.PARTITION not in kinds(advise(layout, scans, SINCE, OPTIONS))
    tiny = AdviceOptions(min_file_bytes=1, max_partitions=1_999)
    assert AdviceKind.PARTITION not in kinds(advise(layout, scans, SINCE, tiny))


def test_scans_of_files_without_sampled_rows_save_nothing() -> None:
    """Each file has its day. Queries look for the last day, and the sample has only the first five."""
    days: list[int | None] = [row // ROWS_OF_A_FILE for row in range(FILES * ROWS_OF_A_FILE)]
    whole = layout_of("day", days)
    rows = FILES * ROWS_OF_A_FILE // 2
    layout = replace(whole, sample=RowSample(whole.sample.file_numbers[:rows], {"day": days[:rows]}))
    found = advise(layout, [scan_of("day", (9, 9))] * 5, SINCE, OPTIONS)
    assert found.simulated.file_count == 5
    assert found.advice == ()
    assert found.notes == ("Rows were sampled from 5 of 10 data files.",)


def test_files_that_were_not_sampled_are_taken_to_be_like_those_that_were() -> None:
    whole = layout_of("id", shuffled())
    rows = FILES * ROWS_OF_A_FILE // 2
    sample = RowSample(whole.sample.file_numbers[:rows], {"id": whole.sample.columns["id"][:rows]})
    scans = [scan_of("id", (id_, id_)) for id_ in range(100, 1_900, 100)]
    options = replace(OPTIONS, min_file_bytes=FILE_BYTES)
    found = advise(replace(whole, sample=sample), scans, SINCE, options)
    assert of_kind(found, AdviceKind.SORT).after.byte_count == pytest.approx(
        len(scans) * FILE_BYTES, rel=0.05
    )


def test_partitions_are_counted_of_the_whole_table() -> None:
    """Ten sampled rows have ten values; the other two thousand have as many more."""
    whole = layout_of("id", shuffled())
    step = ROWS_OF_A_FILE
    sample = RowSample(range(FILES), {"id": whole.sample.columns["id"][::step]})
    layout = replace(whole, sample=sample)
    options = AdviceOptions(min_file_bytes=1, max_partitions=100)
    found = advise(layout, [scan_of("id", (id_, id_)) for id_ in range(50)], SINCE, options)
    assert AdviceKind.PARTITION not in kinds(found)


def test_partitions_of_files_without_sampled_rows_are_counted() -> None:
    days: list[int | None] = [row // ROWS_OF_A_FILE for row in range(FILES * ROWS_OF_A_FILE)]
    whole = layout_of("day", days, column_types={"day": "date"})
    rows = 2 * ROWS_OF_A_FILE
    sample = RowSample(whole.sample.file_numbers[:rows], {"day": days[:rows]})
    [by_day, *_] = partition_keys(
        coded_layout(replace(whole, sample=sample), [scan_of("day", (1, 1))], lambda: False), "day"
    )
    assert (by_day.transform, by_day.count) == ("day", FILES)


@pytest.mark.parametrize(("text_bounds", "is_advised"), [({"url": 16}, False), ({}, True)])
def test_bounds_of_texts_that_begin_alike_select_every_file(
    text_bounds: dict[str, int], is_advised: bool
) -> None:
    urls = [f"https://www.example.com/{number:05}" for number in range(FILES * ROWS_OF_A_FILE)]
    random.Random(1).shuffle(urls)
    numbers = [row // ROWS_OF_A_FILE for row in range(len(urls))]
    bounds = {"url": FileBounds("https://www.exam", "https://www.exan")}
    layout = replace(
        layout_of("url", []),
        files=[LayoutFile(byte_count=FILE_BYTES, record_count=ROWS_OF_A_FILE, bounds=bounds)] * FILES,
        sample=RowSample(numbers, {"url": urls}),
        column_types={"url": "string"},
        text_bounds=text_bounds,
    )
    found = advise(layout, [scan_of("url", (url, url)) for url in urls[:20]], SINCE, OPTIONS)
    assert (AdviceKind.SORT in kinds(found)) is is_advised


def test_advice_ends_in_the_middle_of_one_kind() -> None:
    asked = iter(range(10_000))
    scans = [scan_of("id", (id_, id_)) for id_ in range(160)]
    found = advise(layout_of("id", shuffled()), scans, SINCE, OPTIONS, lambda: next(asked) > 12)
    assert found.notes == ("Time was up before all kinds of advice were tried.",)
    assert next(asked) < 20
    with pytest.raises(LayoutUnknown, match="in time"):
        advise(layout_of("id", shuffled()), scans, SINCE, OPTIONS, lambda: True)


def test_late_advice_says_so() -> None:
    found = advise(layout_of("id", shuffled()), [scan_of("id", (1, 1))], SINCE, OPTIONS, lambda: True)
    assert found.advice == ()
    assert found.notes == ("Time was up before all kinds of advice were tried.",)


def test_names_in_statements_are_quoted() -> None:
    column = "a`b'c"
    found = advise(layout_of(column, shuffled()), [scan_of(column, (1, 1))], SINCE, OPTIONS)
    [*_, call] = of_kind(found, AdviceKind.SORT).statements
    assert "sort_order => '`a``b\\'c` ASC NULLS FIRST'" in call


def test_small_files_that_scans_prune_by_are_not_put_together() -> None:
    days: list[int | None] = [row // ROWS_OF_A_FILE for row in range(FILES * ROWS_OF_A_FILE)]
    layout = layout_of("day", days, target_file_bytes=FILES * FILE_BYTES)
    by_day = [scan_of("day", (day, day)) for day in range(FILES)]
    assert AdviceKind.COMPACTION not in kinds(advise(layout, by_day, SINCE, OPTIONS))
    whole = advise(layout, [scan_of("day")] * 5, SINCE, OPTIONS)
    assert of_kind(whole, AdviceKind.COMPACTION).after.file_count == 5


@pytest.mark.parametrize("step", [1, 10], ids=["all", "sampled"])
def test_row_groups_with_a_value_are_estimated_from_how_often_values_occur(step: int) -> None:
    random_ = random.Random(2)
    values: list[int | None] = [row // 5 for row in range(FILES * ROWS_OF_A_FILE)]
    random_.shuffle(values)
    whole = layout_of("id", values)
    sample = RowSample(whole.sample.file_numbers[::step], {"id": values[::step]})
    sought = random_.sample(range(20, 380), 30)
    scans = [scan_of("id", (id_, id_)) for id_ in sought]
    found = advise(replace(whole, sample=sample), scans, SINCE, replace(OPTIONS, min_file_bytes=FILE_BYTES))
    groups = [values[start : start + ROWS_OF_A_FILE // 4] for start in range(0, len(values), 50)]
    with_value = sum(id_ in group for id_ in sought for group in groups)
    by_mistake = 0.01 * (len(groups) * len(sought) - with_value)
    seen = (with_value + by_mistake) * FILE_BYTES / 4
    assert of_kind(found, AdviceKind.BLOOM_FILTER).after.byte_count == pytest.approx(seen, rel=0.15)
