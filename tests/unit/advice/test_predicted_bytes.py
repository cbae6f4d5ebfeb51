"""Advice is followed on a copy of a generated table, and the queries read what was predicted."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from pyiceberg.transforms import MonthTransform

from service.advice.advice_options import AdviceOptions
from service.advice.advise import advise
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, TableAdvice
from service.model.query.scan_metrics import ScanRecord
from tests.unit.advice.lakehouse import Lakehouse, read_by

Ranges: TypeAlias = dict[str, tuple[Any, Any]]

ROWS, FILES, DAYS = 20_000, 10, 365
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
FIRST_DAY = date(2024, 1, 1)
SMALL_FILES = AdviceOptions(min_file_bytes=15_000)
WITHIN = 0.15


def generated_rows(random_: random.Random, is_by_time: bool) -> pa.Table:
    """Rows whose day follows their id if they are by time, and with a text that takes most of the bytes."""
    ids = list(range(ROWS))
    if not is_by_time:
        random_.shuffle(ids)
    days = [FIRST_DAY + timedelta(days=id_ * DAYS // ROWS) for id_ in ids]
    return pa.table(
        {
            "id": ids,
            "day": days,
            "city": [f"city {random_.randrange(40)}" for _ in ids],
            "price": [Decimal(random_.randrange(100_000)) / 100 for _ in ids],
            "at": [datetime(day.year, day.month, day.day, random_.randrange(24)) for day in days],
            "text": [random_.randbytes(40).hex() for _ in ids],
        }
    )


@pytest.fixture
def lakehouse(tmp_path: Path) -> Iterator[Lakehouse]:
    made = Lakehouse(tmp_path)
    yield made
    made.close()


def weeks(random_: random.Random, count: int = 25) -> list[Ranges]:
    first_days = [FIRST_DAY + timedelta(days=random_.randrange(DAYS - 7)) for _ in range(count)]
    return [{"day": (day, day + timedelta(days=6))} for day in first_days]


def single_ids(random_: random.Random, count: int = 25) -> list[Ranges]:
    return [{"id": (id_, id_)} for id_ in random_.sample(range(ROWS), count)]


def scans_of(lakehouse: Lakehouse, workload: list[Ranges]) -> list[ScanRecord]:
    return [lakehouse.scan(**ranges) for ranges in workload]


def advice_for(lakehouse: Lakehouse, workload: list[Ranges], rows: int = ROWS) -> TableAdvice:
    columns = dict.fromkeys(column for ranges in workload for column in ranges)
    layout = lakehouse.layout(*columns, max_sampled_rows=rows)
    found = advise(layout, scans_of(lakehouse, workload), SINCE, SMALL_FILES)
    assert found.simulated == found.workload.recorded
    return found


def of_kind(found: TableAdvice, kind: AdviceKind) -> LayoutAdvice:
    [advice] = [one for one in found.advice if one.kind is kind]
    return advice


def assert_is_read_as_predicted(lakehouse: Lakehouse, workload: list[Ranges], advice: LayoutAdvice) -> None:
    seen = read_by(scans_of(lakehouse, workload))
    assert advice.after.byte_count == pytest.approx(seen.byte_count, rel=WITHIN)
    assert advice.saved_share > 0.1


@pytest.mark.parametrize(
    ("ask", "sampled_rows"),
    [(weeks, ROWS), (weeks, ROWS // 10), (single_ids, ROWS // 10)],
    ids=["weeks", "weeks-sampled", "ids-sampled"],
)
def test_a_table_that_is_sorted_as_advised_is_read_as_predicted(
    lakehouse: Lakehouse, ask: Callable[[random.Random], list[Ranges]], sampled_rows: int
) -> None:
    random_ = random.Random(1)
    lakehouse.append(generated_rows(random_, is_by_time=False), FILES)
    lakehouse.set_target(100_000)
    workload = ask(random_)
    found = advice_for(lakehouse, workload, sampled_rows)
    advice = of_kind(found, AdviceKind.SORT)
    [column] = advice.columns
    assert column in workload[0]
    assert advice.file_bytes
    lakehouse.rewrite(lakehouse.rows().sort_by(column), round(found.byte_count / advice.file_bytes))
    assert_is_read_as_predicted(lakehouse, workload, advice)


def test_a_table_that_is_partitioned_as_advised_is_read_as_predicted(lakehouse: Lakehouse) -> None:
    random_ = random.Random(2)
    lakehouse.append(generated_rows(random_, is_by_time=False), FILES)
    workload = weeks(random_)
    advice = of_kind(advice_for(lakehouse, workload), AdviceKind.PARTITION)
    # Files of a day would be too small.
    assert (advice.columns, advice.transform) == (("day",), "month")
    rows = lakehouse.rows()
    with lakehouse.table.update_spec() as update:
        update.add_field("day", MonthTransform())
    lakehouse.rewrite(rows, files=1)
    assert_is_read_as_predicted(lakehouse, workload, advice)


def test_a_table_whose_files_are_split_as_advised_is_read_as_predicted(lakehouse: Lakehouse) -> None:
    random_ = random.Random(3)
    lakehouse.append(generated_rows(random_, is_by_time=True), files=2)
    lakehouse.set_target(1_000_000)
    workload = weeks(random_)
    found = advice_for(lakehouse, workload)
    advice = of_kind(found, AdviceKind.FILE_SIZE)
    assert advice.file_bytes
    # In the order that the rows have in the files.
    in_order = lakehouse.rows().sort_by("id")
    lakehouse.rewrite(in_order, round(found.byte_count / advice.file_bytes))
    assert_is_read_as_predicted(lakehouse, workload, advice)


def test_small_files_that_are_put_together_as_advised_are_read_as_predicted(lakehouse: Lakehouse) -> None:
    random_ = random.Random(4)
    lakehouse.append(generated_rows(random_, is_by_time=True), files=40)
    lakehouse.set_target(500_000)
    workload: list[Ranges] = [*[{}] * 25, *weeks(random_, 5)]
    found = advice_for(lakehouse, workload)
    advice = of_kind(found, AdviceKind.COMPACTION)
    # PyIceberg measures rows in memory, and would cut files that are not too large.
    lakehouse.set_target(100_000_000)
    lakehouse.rewrite(lakehouse.rows().sort_by("id"), files=-(-found.byte_count // 500_000))
    seen = read_by(scans_of(lakehouse, workload))
    assert advice.after.byte_count == pytest.approx(seen.byte_count, rel=WITHIN)
    assert advice.after.file_count == pytest.approx(seen.file_count, rel=WITHIN)
    assert advice.after.file_count * 2 < advice.before.file_count


def test_a_table_that_is_read_as_it_lies_needs_no_advice(lakehouse: Lakehouse) -> None:
    random_ = random.Random(5)
    lakehouse.append(generated_rows(random_, is_by_time=True), files=10)
    lakehouse.set_target(120_000)
    found = advise(
        lakehouse.layout("day"),
        scans_of(lakehouse, weeks(random_)),
        SINCE,
        AdviceOptions(min_file_bytes=100_000),
    )
    assert found.advice == ()
