"""The form in which keys filter a probe, and the cases in which they do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random

import pytest
from sqlglot import exp

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import DynamicFilter, KeySpan, Probe
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import DynamicFilteringData, FilterForm, KeyRange, KeyValue
from service.model.tables.tables import PartitionField, SortField, TableAt, TableFacts, TableName
from service.pruning.predicates.composite_predicate import TupleBounds, composite_predicate
from service.pruning.predicates.form import FormBounds, form, listed_keys
from service.pruning.predicates.predicate import FormedPredicate
from service.pruning.scan_layout.takes_lists_only import takes_lists_only
from tests.fakes.filters import SALES, date_filter
from tests.unit.pruning.tables import TABLES

BOUNDS = FormBounds(max_in_list=5, max_ranges=3, max_listed=20)
LEAP_DAY = date(2000, 2, 29)


def formed(
    *values: KeyValue,
    type_name: str = "int",
    ranges: tuple[KeyRange, ...] = (),
    column_values: ColumnValues | None = None,
    span: KeySpan = KeySpan.VALUE,
    takes_lists: bool = False,
    has_null: bool = False,
) -> FormedPredicate | Reason:
    found = replace(date_filter(), probe=Probe(SALES, ("k",), (type_name,), 1), span=span)
    data = DynamicFilteringData(tuple((value,) for value in values), True, bool(ranges), ranges, has_null)
    return form(found, data, column_values, takes_lists, BOUNDS)


def filter_on(type_name: str, key_type: str = "", span: KeySpan = KeySpan.VALUE) -> DynamicFilter:
    probe = Probe(SALES, ("k",), (type_name,), 1)
    return replace(date_filter(), probe=probe, span=span, collected_types=(key_type or type_name,))


def data_of(
    *values: KeyValue, ranges: tuple[KeyRange, ...] = (), has_null: bool = False
) -> DynamicFilteringData:
    return DynamicFilteringData(tuple((value,) for value in values), True, bool(ranges), ranges, has_null)


def text(predicate: FormedPredicate | Reason) -> str:
    return predicate if isinstance(predicate, Reason) else predicate.condition.sql("spark")


@pytest.mark.parametrize(
    ("found", "data", "keys"),
    [
        (filter_on("int"), data_of(1, 2, 2**40), {1, 2}),
        (filter_on("long"), data_of(2**40), {2**40}),
        (filter_on("int", "string"), data_of("1", "07", "7"), {1, 7}),
        (filter_on("int"), data_of(), set()),
        (
            filter_on("date", "timestamp"),
            data_of(datetime(2000, 2, 29), datetime(2000, 2, 29, 1)),
            {LEAP_DAY},
        ),
    ],
)
def test_keys_are_listed_as_values_of_the_probe(
    found: DynamicFilter, data: DynamicFilteringData, keys: set[KeyValue]
) -> None:
    assert set(listed_keys(found, data) or ()) == keys


@pytest.mark.parametrize(
    ("found", "data"),
    [
        (filter_on("int"), data_of(1, has_null=True)),
        (filter_on("int"), data_of(ranges=((1, 9),))),
        (filter_on("timestamp", "date", KeySpan.DAY), data_of(LEAP_DAY)),
        (filter_on("int"), DynamicFilteringData.not_filtering()),
    ],
)
def test_what_stands_for_more_than_its_keys_is_not_listed(
    found: DynamicFilter, data: DynamicFilteringData
) -> None:
    assert listed_keys(found, data) is None


def test_only_keys_among_those_of_other_filters_count() -> None:
    common = form(filter_on("int", "string"), data_of("1", "7", "9"), None, False, BOUNDS, frozenset({7, 8}))
    none = form(filter_on("int"), data_of(1, 2), None, False, BOUNDS, frozenset({3}))
    assert [text(common), text(none)] == ["`k` IN (7)", "FALSE"]


def test_ranges_are_cut_to_what_the_probe_holds() -> None:
    column_values = ColumnValues(None, 5, 50, is_clustered=False)
    assert text(formed(ranges=((1, 9), (20, 30), (60, 70)), column_values=column_values)) == (
        "(`k` BETWEEN 5 AND 9 OR `k` BETWEEN 20 AND 30)"
    )


def test_ranges_without_any_value_of_the_probe_are_left_out() -> None:
    column_values = ColumnValues((5, 25, 50), 5, 50, is_clustered=False)
    assert text(formed(ranges=((1, 9), (10, 20), (21, 30)), column_values=column_values)) == (
        "(`k` BETWEEN 1 AND 9 OR `k` BETWEEN 21 AND 30)"
    )


@pytest.mark.parametrize(
    "column_values",
    [ColumnValues((5, 9), 5, 9, is_clustered=False), ColumnValues(None, 5, 9, is_clustered=False)],
)
def test_ranges_that_hold_the_whole_probe_are_not_selective(column_values: ColumnValues) -> None:
    assert formed(ranges=((1, 90),), column_values=column_values) is Reason.NOT_SELECTIVE


def test_ranges_beside_the_probe_leave_nothing_to_read() -> None:
    for column_values in (
        ColumnValues(None, 5, 9, is_clustered=False),
        ColumnValues(None, None, None, is_clustered=False),
    ):
        found = formed(ranges=((10, 90),), column_values=column_values)
        assert isinstance(found, FormedPredicate)
        assert found.form is FilterForm.EMPTY


def test_ranges_keep_within_the_type_of_the_probe() -> None:
    assert text(formed(ranges=((7, 2**40),))) == f"(`k` BETWEEN 7 AND {2**31 - 1})"
    assert text(formed(ranges=((2**40, 2**41),))) == "FALSE"
    assert text(formed(ranges=((Decimal("1.5"), Decimal("9.5")),))) == "(`k` BETWEEN 2 AND 9)"


def test_numbers_of_another_type_are_those_that_equal_them() -> None:
    assert text(formed(Decimal("7.00"), Decimal("7.50"), Decimal("3000000000.00"))) == "`k` IN (7)"
    assert text(formed(7, 1000, type_name="decimal(4, 2)")) == "`k` IN (CAST('7.00' AS DECIMAL(4, 2)))"
    assert text(formed(Decimal("0.125"), type_name="decimal(7, 2)")) == "FALSE"


def test_a_null_among_the_keys_stays_in_every_form() -> None:
    column_values = ColumnValues((1, 7), 1, 7, is_clustered=False)
    for found, expected in (
        (formed(1, 9, has_null=True), "(`k` IN (1, 9) OR `k` IS NULL)"),
        (formed(1, 9, column_values=column_values, has_null=True), "(`k` IN (1) OR `k` IS NULL)"),
        (formed(*range(8), has_null=True), "((`k` BETWEEN 0 AND 7) OR `k` IS NULL)"),
        (formed(ranges=((1, 9),), has_null=True), "((`k` BETWEEN 1 AND 9) OR `k` IS NULL)"),
        (formed(1, takes_lists=True, has_null=True), "(`k` IN (1) OR `k` IS NULL)"),
        (
            formed(LEAP_DAY, type_name="timestamp", span=KeySpan.DAY, has_null=True),
            "((`k` BETWEEN CAST('2000-02-29 00:00:00' AS TIMESTAMP_NTZ)"
            " AND CAST('2000-02-29 23:59:59.999999' AS TIMESTAMP_NTZ)) OR `k` IS NULL)",
        ),
    ):
        assert text(found) == expected


@pytest.mark.parametrize("takes_lists", [False, True])
@pytest.mark.parametrize(
    "column_values",
    [None, ColumnValues((5,), 5, 5, is_clustered=False), ColumnValues(None, None, None, is_clustered=False)],
)
def test_a_null_alone_is_not_nothing(column_values: ColumnValues | None, takes_lists: bool) -> None:
    found = formed(has_null=True, column_values=column_values, takes_lists=takes_lists)
    assert isinstance(found, FormedPredicate)
    assert (text(found), found.form, found.is_exact) == ("`k` IS NULL", FilterForm.IN, True)


def test_lists_with_a_null_are_exact_and_ranges_of_too_many_keys_are_not() -> None:
    for found, is_exact in (
        (formed(1, 9, has_null=True), True),
        (formed(*range(8), has_null=True), True),
        (formed(ranges=((1, 9),), has_null=True), False),
    ):
        assert isinstance(found, FormedPredicate)
        assert found.is_exact is is_exact


def test_a_set_with_all_values_is_not_selective_by_its_null() -> None:
    column_values = ColumnValues((1, 2), 1, 2, is_clustered=False)
    assert formed(1, 2, has_null=True, column_values=column_values) is Reason.NOT_SELECTIVE


def test_buckets_are_pruned_by_lists_only() -> None:
    assert text(formed(*range(8), takes_lists=True)) == "`k` IN (0, 1, 2, 3, 4, 5, 6, 7)"
    assert formed(*range(21), takes_lists=True) is Reason.RANGES_ONLY
    assert formed(ranges=((1, 9),), takes_lists=True) is Reason.RANGES_ONLY
    assert formed(LEAP_DAY, type_name="timestamp", span=KeySpan.DAY, takes_lists=True) is Reason.RANGES_ONLY


def test_a_day_is_all_its_moments() -> None:
    assert text(formed(LEAP_DAY, date(2000, 3, 1), type_name="timestamp", span=KeySpan.DAY)) == (
        "(`k` BETWEEN CAST('2000-02-29 00:00:00' AS TIMESTAMP_NTZ)"
        " AND CAST('2000-03-01 23:59:59.999999' AS TIMESTAMP_NTZ))"
    )
    assert text(formed(LEAP_DAY, type_name="timestamptz", span=KeySpan.DAY)) == (
        "(`k` BETWEEN CAST('2000-02-29 00:00:00+00:00' AS TIMESTAMP)"
        " AND CAST('2000-02-29 23:59:59.999999+00:00' AS TIMESTAMP))"
    )


def test_a_day_somewhere_is_the_day_of_all_zones() -> None:
    assert text(formed(LEAP_DAY, type_name="timestamptz", span=KeySpan.DAY_ANYWHERE)) == (
        "(`k` BETWEEN CAST('2000-02-28 06:00:00+00:00' AS TIMESTAMP)"
        " AND CAST('2000-03-01 17:59:59.999999+00:00' AS TIMESTAMP))"
    )


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_of_the_first_and_the_last_day_some_zones_have_moments_that_cannot_be_determined(day: date) -> None:
    assert formed(day, type_name="timestamptz", span=KeySpan.DAY_ANYWHERE) is Reason.TYPE_NOT_CONVERTIBLE
    assert isinstance(formed(day, type_name="timestamptz", span=KeySpan.DAY), FormedPredicate)


def test_moments_that_cannot_be_determined_do_no_harm_where_the_probe_has_none_of_them() -> None:
    first, last = (datetime(year, 1, 1, tzinfo=UTC) for year in (1999, 2001))
    column_values = ColumnValues(None, first, last, is_clustered=True)
    days = (date(1, 1, 1), LEAP_DAY, date(9999, 12, 31))
    found = formed(*days, type_name="timestamptz", column_values=column_values, span=KeySpan.DAY_ANYWHERE)
    assert isinstance(found, FormedPredicate)
    assert len(found.ranges) == 1


def test_too_many_days_are_their_ranges() -> None:
    ranges = ((LEAP_DAY, date(2000, 3, 7)),)
    assert text(formed(ranges=ranges, type_name="timestamp", span=KeySpan.DAY)) == (
        "(`k` BETWEEN CAST('2000-02-29 00:00:00' AS TIMESTAMP_NTZ)"
        " AND CAST('2000-03-07 23:59:59.999999' AS TIMESTAMP_NTZ))"
    )


BARE = replace(TABLES[TableAt(TableName("lake", "shop", "sales"))], partition_fields=(), sort_fields=())


@pytest.mark.parametrize(
    ("facts", "is_so"),
    [
        (BARE, False),
        (replace(BARE, partition_fields=(PartitionField("b", "Item_Key", "bucket[8]"),)), True),
        (replace(BARE, past_partition_fields=(PartitionField("b", "item_key", "bucket[8]"),)), True),
        (replace(BARE, bloom_filter_columns=("item_key",)), True),
        (
            replace(
                BARE,
                partition_fields=(PartitionField("b", "item_key", "bucket[8]"),),
                past_partition_fields=(PartitionField("t", "item_key", "truncate[5]"),),
            ),
            False,
        ),
        (
            replace(
                BARE,
                partition_fields=(PartitionField("b", "item_key", "bucket[8]"),),
                sort_fields=(SortField("item_key", "identity", "asc", "nulls-first"),),
            ),
            False,
        ),
    ],
)
def test_hashes_take_lists_only(facts: TableFacts, is_so: bool) -> None:
    assert takes_lists_only(facts, "item_key") is is_so


# The values of a table without snapshots when it was listed: even numbers, and an outlier.
LISTED = ColumnValues((*range(100, 160, 2), 300), 100, 300, is_clustered=False, is_pinned=False)
ROUNDS = 200


def test_no_key_is_left_out_that_was_not_listed() -> None:
    """A partition that was added since the listing is still found."""
    found = formed(*range(0, 90, 4), 110, *range(203, 299, 5), column_values=LISTED)
    assert text(found) == "(`k` BETWEEN 0 AND 88 OR `k` = 110 OR `k` BETWEEN 203 AND 298)"


def test_more_runs_than_ranges_are_a_list_of_what_was_listed_and_ranges_of_the_rest() -> None:
    found = formed(*range(0, 90, 4), 110, 114, 118, *range(203, 299, 5), column_values=LISTED)
    assert text(found) == "(`k` IN (110, 114, 118) OR (`k` BETWEEN 0 AND 88 OR `k` BETWEEN 203 AND 298))"


def test_too_many_runs_of_what_was_not_listed_are_joined_over_the_narrowest_gaps() -> None:
    found = formed(*range(0, 90, 4), *range(101, 159, 4), column_values=LISTED)
    assert isinstance(found, FormedPredicate)
    assert (found.form, found.ranges[0], len(found.ranges)) == (FilterForm.RANGES, (0, 88), 3)
    assert found.ranges[-1][1] == 157


def test_by_a_listing_no_join_is_eliminated_and_nothing_else_is_left_to_the_filter() -> None:
    found = formed(*range(0, 90, 4), 110, 500, column_values=LISTED)
    assert isinstance(found, FormedPredicate)
    assert (found.form, found.is_exact) == (FilterForm.RANGES, False)


def test_few_keys_stay_the_list_that_they_are() -> None:
    found = formed(7, 100, 900, column_values=LISTED)
    assert isinstance(found, FormedPredicate)
    assert (text(found), found.is_exact) == ("`k` IN (7, 100, 900)", True)


def test_all_that_was_listed_is_not_selective() -> None:
    assert formed(*range(400), column_values=LISTED) is Reason.NOT_SELECTIVE
    assert formed(ranges=((0, 400),), column_values=LISTED) is Reason.NOT_SELECTIVE


def test_a_partition_of_null_is_left_out_though_all_others_are_read() -> None:
    with_null = replace(LISTED, has_null=True)
    assert text(formed(*range(400), column_values=with_null)) == "(`k` BETWEEN 0 AND 399)"
    assert text(formed(ranges=((0, 400),), column_values=with_null)) == "(`k` BETWEEN 0 AND 400)"


def test_ranges_are_not_cut_to_what_was_listed() -> None:
    assert text(formed(ranges=((0, 120), (400, 500)), column_values=LISTED)) == (
        "(`k` BETWEEN 0 AND 120 OR `k` BETWEEN 400 AND 500)"
    )


def test_tuples_are_included_that_were_not_listed() -> None:
    probe = Probe(SALES, ("a", "b"), ("int", "int"), None)
    found = composite_predicate(
        probe, [(100, 7), (7, 100)], [LISTED, LISTED], TupleBounds(max_parts=32, max_values=200)
    )
    assert text(found) == "((`a` IN (7) AND `b` IN (100)) OR (`a` IN (100) AND `b` IN (7)))"


def test_a_predicate_by_a_listing_is_true_of_every_key() -> None:
    rng = Random(7)
    for _ in range(ROUNDS):
        keys = rng.sample(range(60), rng.randrange(1, 40))
        listed = tuple(sorted(rng.sample(range(60), rng.randrange(1, 30))))
        column_values = ColumnValues(listed, listed[0], listed[-1], is_clustered=False, is_pinned=False)
        found = formed(*keys, column_values=column_values)
        if isinstance(found, Reason):
            assert set(listed) <= set(keys)
            continue
        assert set(keys) <= {number for number in range(60) if _is_true(found, number)}


def _is_true(found: FormedPredicate, value: int) -> bool:
    def is_true(node: exp.Expr) -> bool:
        match node:
            case exp.Paren():
                return is_true(node.this)
            case exp.Or():
                return is_true(node.left) or is_true(node.right)
            case exp.In():
                return value in [int(expression.this) for expression in node.expressions]
            case exp.Between():
                return int(node.args["low"].this) <= value <= int(node.args["high"].this)
            case exp.EQ():
                return value == int(node.right.this)
        raise AssertionError(node)

    return is_true(found.condition)
