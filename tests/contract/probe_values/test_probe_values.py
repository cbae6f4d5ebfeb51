"""The contract of `ProbeValues`, for every implementation."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from service.model.filters.column_values import ColumnValues, FileOverlap, NotKnown
from service.model.filters.file_sizes import WHOLE, FileShare
from service.model.tables.tables import TableName
from tests.contract.probe_values.lakehouse import SALES, ProbeLakehouse

PATIENCE_S = 30.0
MONDAY, TUESDAY, FRIDAY = date(2000, 1, 3), date(2000, 1, 4), date(2000, 1, 7)


def _asked(lakehouse: ProbeLakehouse, snapshot_id: int | None, column: str) -> ColumnValues | None:
    lakehouse.values.of(SALES, snapshot_id, column)
    lakehouse.settle()
    found = lakehouse.values.of(SALES, snapshot_id, column)
    return found if isinstance(found, ColumnValues) else None


def test_the_first_question_has_no_answer_and_a_later_one_has(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": MONDAY}])
    # The background read may already be done.
    first = lakehouse.values.of(SALES, snapshot_id, "day")
    assert first is NotKnown.PENDING or isinstance(first, ColumnValues)
    lakehouse.settle()
    assert isinstance(lakehouse.values.of(SALES, snapshot_id, "day"), ColumnValues)


def test_the_first_question_has_an_answer_where_there_is_time(lakehouse: ProbeLakehouse) -> None:
    for day in (MONDAY, TUESDAY):
        snapshot_id = lakehouse.append([{"day": day}])
        found = lakehouse.values.of(SALES, snapshot_id, "day", within_s=PATIENCE_S)
        assert isinstance(found, ColumnValues)
        assert found.upper == day
        assert found.is_current


def test_what_was_prepared_is_known_later(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": MONDAY, "sale_id": 1}])
    lakehouse.values.prepare(SALES, snapshot_id, ["day", "sale_id", "no_such_column"])
    lakehouse.values.prepare(SALES, None, ["day"])
    lakehouse.settle()
    for column in ("day", "sale_id"):
        assert isinstance(lakehouse.values.of(SALES, snapshot_id, column), ColumnValues)


def test_until_a_snapshot_is_known_the_answer_is_that_of_an_earlier_one(lakehouse: ProbeLakehouse) -> None:
    first = lakehouse.append([{"day": MONDAY, "sale_id": 1}, {"day": TUESDAY, "sale_id": 2}])
    lakehouse.values.of(SALES, first, "sale_id", within_s=PATIENCE_S)
    second = lakehouse.append([{"day": FRIDAY, "sale_id": 3}])
    earlier = lakehouse.values.of(SALES, second, "sale_id")
    assert earlier == ColumnValues(None, 1, 2, is_clustered=True, is_pinned=False, is_current=False)
    lakehouse.settle()
    found = lakehouse.values.of(SALES, second, "sale_id")
    assert found == ColumnValues((1, 2, 3), 1, 3, is_clustered=True)


def test_files_that_overlap_are_counted(lakehouse: ProbeLakehouse) -> None:
    rows = [
        {"day": day, "amount": Decimal(amount)} for day in (MONDAY, TUESDAY, FRIDAY) for amount in (1, 99)
    ]
    snapshot_id = lakehouse.append([*rows, {"day": date(2000, 1, 8), "amount": Decimal(100)}])
    found = _asked(lakehouse, snapshot_id, "amount")
    assert found is not None
    assert not found.is_clustered
    assert found.overlap == FileOverlap(overlapping=3, files=4)


def test_a_table_without_a_snapshot_holds_nothing_that_is_known(lakehouse: ProbeLakehouse) -> None:
    assert _asked(lakehouse, None, "day") is None


def test_a_partition_columns_values_are_all_reported(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": FRIDAY}, {"day": MONDAY}, {"day": None}, {"day": MONDAY}])
    values = _asked(lakehouse, snapshot_id, "day")
    assert values == ColumnValues((MONDAY, FRIDAY), MONDAY, FRIDAY, is_clustered=True)


def test_other_columns_have_bounds(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append(
        [
            {"day": MONDAY, "sale_id": 1, "city": "Aachen", "amount": Decimal("1.50")},
            {"day": MONDAY, "sale_id": 10, "city": "Zwickau", "amount": Decimal("99.00")},
            {"day": TUESDAY, "sale_id": 11, "city": None, "amount": Decimal("-3.00")},
            {"day": TUESDAY, "sale_id": 20, "city": None, "amount": Decimal("70.00")},
        ]
    )
    ids, amounts = _asked(lakehouse, snapshot_id, "sale_id"), _asked(lakehouse, snapshot_id, "amount")
    assert ids == ColumnValues(None, 1, 20, is_clustered=True)
    assert amounts == ColumnValues(None, Decimal("-3.00"), Decimal("99.00"), is_clustered=False)
    cities = _asked(lakehouse, snapshot_id, "city")
    assert cities == ColumnValues(None, "Aachen", "Zwickau", is_clustered=False)


def test_a_columns_files_have_sizes(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append(
        [{"day": MONDAY, "sale_id": 1}, {"day": MONDAY, "sale_id": 9}, {"day": TUESDAY, "sale_id": 11}]
    )
    values = _asked(lakehouse, snapshot_id, "sale_id")
    assert values is not None
    assert values.sizes is not None
    assert values.sizes.share([(1, 11)]) == WHOLE
    for found in ([(2, 3), (5, 6)], [(10, 12)]):
        share = values.sizes.share(found)
        assert share.of_files == 0.5
        assert 0.4 < share.of_bytes < 0.6
    assert values.sizes.share([(10, 10)]) == FileShare(0.0, 0.0)


def test_moments_have_their_time_zone(lakehouse: ProbeLakehouse) -> None:
    moment = datetime(2000, 1, 3, 12, 0, 0, 123456, tzinfo=UTC)
    snapshot_id = lakehouse.append([{"day": MONDAY, "sold_at": moment}])
    assert _asked(lakehouse, snapshot_id, "sold_at") == ColumnValues(
        (moment,), moment, moment, is_clustered=False
    )


def test_a_column_with_nothing_but_null_has_no_values(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": MONDAY}])
    assert _asked(lakehouse, snapshot_id, "sale_id") == ColumnValues((), None, None, is_clustered=False)


def test_each_snapshot_has_its_own_values(lakehouse: ProbeLakehouse) -> None:
    first = lakehouse.append([{"day": MONDAY}])
    second = lakehouse.append([{"day": FRIDAY}])
    for snapshot_id, days in ((first, (MONDAY,)), (second, (MONDAY, FRIDAY))):
        values = _asked(lakehouse, snapshot_id, "day")
        assert values is not None
        assert values.values == days


def test_nothing_is_known_of_what_is_not_there_or_must_not_be_a_key(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": MONDAY, "weight": 1.0}])
    assert _asked(lakehouse, snapshot_id, "weight") is None
    assert _asked(lakehouse, snapshot_id, "no_such_column") is None
    assert _asked(lakehouse, 77, "day") is None
    lakehouse.values.of(TableName("lake", "shop", "nowhere"), snapshot_id, "day")
    lakehouse.settle()
    assert lakehouse.values.of(TableName("lake", "shop", "nowhere"), snapshot_id, "day") in tuple(NotKnown)


def test_of_one_partition_column_there_are_no_combinations(lakehouse: ProbeLakehouse) -> None:
    snapshot_id = lakehouse.append([{"day": MONDAY, "city": "Aachen"}])
    assert _asked(lakehouse, snapshot_id, "day") is not None
    assert lakehouse.values.partitions(SALES, snapshot_id, ["day", "city"]) is None
    assert lakehouse.values.partitions(SALES, None, ["day", "city"]) is None
