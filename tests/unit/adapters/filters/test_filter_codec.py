from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.filters.codec import HEAD_BYTES, decode, decode_head, encode
from service.adapters.filters.entry_head import EntryHead, Rubbish
from service.adapters.filters.key_types import Uncacheable
from service.adapters.filters.sampled_keys import sampled_keys
from service.model.filters.key_sample import KeySample
from service.model.filters.key_set import DynamicFilteringData, FilterForm, Key, KeyRange, KeyValue
from service.model.tables.tables import TableName
from tests.fakes.filters import DAYS, date_filter, keys_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WANTED = date_filter("f1")
VALUE, STORED = encode(WANTED, DAYS, NOON, DAY)


def restored(type_names: tuple[str, ...], *keys: Key) -> tuple[Key, ...]:
    wanted = date_filter("f1", type_names)
    return decode(encode(wanted, keys_of(*keys), NOON, DAY)[0], wanted).data.values


@pytest.mark.parametrize(
    ("type_name", "values"),
    [
        ("boolean", [False, True]),
        ("int", [-(2**31), 0, 1, 2**31 - 1]),
        ("long", [-(2**63), 0, 1, 2**63 - 1]),
        ("string", ["", "a\x00b", "ü", "𝄞"]),
        ("date", [date(1, 1, 1), date(9999, 12, 31)]),
        ("timestamp", [datetime(1, 1, 1), datetime(2026, 3, 29, 2, 30, 0, 1)]),
        ("timestamptz", [datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 3, 29, 2, 30, 0, 1, UTC)]),
        ("decimal(7, 2)", [Decimal("-99999.99"), Decimal("0.00"), Decimal("0.10")]),
        ("decimal(38, 0)", [Decimal("9" * 38)]),
    ],
)
def test_every_type_comes_back_as_it_went_in(type_name: str, values: list[object]) -> None:
    keys: list[Key] = [(value,) for value in values]  # type: ignore[misc]
    found = restored((type_name,), *keys)
    assert found == tuple(keys)
    assert [type(value) for (value,) in found] == [type(value) for value in values]
    assert [str(value) for (value,) in found] == [str(value) for value in values]


def test_a_time_with_a_zone_comes_back_in_utc() -> None:
    summer = datetime(2026, 7, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    [(found,)] = restored(("timestamptz",), (summer,))
    assert isinstance(found, datetime)
    assert (found, found.tzinfo) == (summer, UTC)


@given(st.lists(st.tuples(st.booleans(), st.integers(-(2**31), 2**31 - 1), st.text()), max_size=20))
def test_composite_keys_stay_together(keys: list[Key]) -> None:
    try:
        assert restored(("boolean", "long", "string"), *keys) == tuple(keys)
    except Uncacheable:
        assert any(0xD800 <= ord(character) <= 0xDFFF for _, _, text in keys for character in str(text))


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("int", True),
        ("int", 2**31),
        ("long", 2**63),
        ("long", 1.0),
        ("long", None),
        ("boolean", 1),
        ("string", 5),
        ("string", "\ud800"),
        ("date", datetime(2026, 1, 1)),
        ("timestamp", datetime(2026, 1, 1, tzinfo=UTC)),
        ("timestamp", date(2026, 1, 1)),
        ("timestamptz", datetime(2026, 1, 1)),
        ("decimal(7, 2)", Decimal("0.001")),
        ("decimal(7, 2)", Decimal("NaN")),
        ("double", 1.0),
        ("uuid", "x"),
    ],
)
def test_what_would_not_come_back_exactly_is_not_stored(type_name: str, value: object) -> None:
    with pytest.raises(Uncacheable):
        restored((type_name,), (value,))  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [((1,), (1, 2)), ((1, 2),), ((),)])
def test_a_key_without_a_value_for_each_column_is_not_stored(keys: tuple[Key, ...]) -> None:
    with pytest.raises(Uncacheable):
        restored(("long",), *keys)


@pytest.mark.parametrize(
    "data", [keys_of(), DynamicFilteringData.not_filtering(), DynamicFilteringData.not_filtering(True)]
)
def test_no_keys_keep_their_meaning(data: DynamicFilteringData) -> None:
    assert decode(encode(WANTED, data, NOON, DAY)[0], WANTED).data == data


@pytest.mark.parametrize("ranges", [((1, 9), (12, 12)), ((-(2**63), 2**63 - 1),)])
def test_ranges_are_stored_where_there_are_too_many_keys(ranges: tuple[KeyRange, ...]) -> None:
    data = DynamicFilteringData((), is_filtering=True, exceeds_threshold=True, ranges=ranges)
    value, stored = encode(WANTED, data, NOON, DAY)
    assert decode(value, WANTED) == stored
    assert (stored.data, decode_head(value).shown.value_count) == (data, 0)


@pytest.mark.parametrize(
    "data",
    [
        replace(keys_of((1,), (7,)), has_null=True),
        replace(keys_of(), has_null=True),
        DynamicFilteringData((), True, exceeds_threshold=True, ranges=((1, 9),), has_null=True),
    ],
)
def test_a_null_among_the_keys_stays_one(data: DynamicFilteringData) -> None:
    value, stored = encode(WANTED, data, NOON, DAY)
    assert decode(value, WANTED) == stored
    assert (stored.data, decode_head(value).shown.value_count) == (data, len(data.values) + 1)


def test_keys_may_be_collected_in_another_type_than_the_probe_has() -> None:
    wanted = replace(date_filter("f1", ("timestamp",)), collected_types=("date",))
    days = keys_of((date(2000, 2, 29),))
    assert decode(encode(wanted, days, NOON, DAY)[0], wanted).data == days


def test_what_is_read_is_what_was_said_when_it_was_stored() -> None:
    assert decode(VALUE, WANTED) == STORED
    head = decode_head(VALUE[:HEAD_BYTES])
    assert head.shown.byte_count == STORED.byte_count < len(VALUE) < 8 * len(DAYS.values)
    assert (head.shown.created_at, head.shown.expires_at) == (NOON, NOON + DAY)


def test_a_change_of_any_byte_is_seen() -> None:
    for index in range(len(VALUE)):
        damaged = bytearray(VALUE)
        damaged[index] ^= 0x10
        with pytest.raises(Rubbish):
            decode(bytes(damaged), WANTED)


def test_a_cut_or_longer_value_is_seen() -> None:
    for length in range(0, len(VALUE), 7):
        with pytest.raises(Rubbish):
            decode(VALUE[:length], WANTED)
    with pytest.raises(Rubbish):
        decode(VALUE + b"\x00", WANTED)


@given(st.binary(max_size=200))
def test_anything_else_is_rubbish(value: bytes) -> None:
    for rubbish in (value, b"SLFK" + value):
        with pytest.raises(Rubbish):
            decode(rubbish, WANTED)


def test_another_filters_value_is_rubbish() -> None:
    with pytest.raises(Rubbish):
        decode(VALUE, date_filter("f2"))
    with pytest.raises(Rubbish):
        decode(VALUE, date_filter("f1", ("int",)))


def test_a_head_of_another_version_is_rubbish() -> None:
    text = decode_head(VALUE).to_json()
    assert EntryHead.from_json(text) == decode_head(VALUE)
    for other in (text.replace(b'"version": 2', b'"version": 1'), b"{}", b"[]", b"1"):
        with pytest.raises(Rubbish):
            EntryHead.from_json(other)


SHOWN = ("form", "sample")


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (DAYS, FilterForm.IN),
        (keys_of(), FilterForm.EMPTY),
        (DynamicFilteringData.not_filtering(), FilterForm.NONE),
        (DynamicFilteringData((), True, exceeds_threshold=True, ranges=((1, 9),)), FilterForm.RANGES),
    ],
)
def test_a_head_of_a_former_version_has_a_form_and_no_sample(
    data: DynamicFilteringData, form: FilterForm
) -> None:
    head = decode_head(encode(WANTED, data, NOON, DAY)[0])
    former = {key: value for key, value in json.loads(head.to_json()).items() if key not in SHOWN}
    read = EntryHead.from_json(json.dumps(former).encode())
    assert (head.shown.form, read) == (form, head.without_sample())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=2000), max_size=30, unique=True))
def test_the_sample_is_bounded_whatever_the_keys_are(texts: list[str]) -> None:
    wanted = date_filter("f1", ("string", "string"))
    value, stored = encode(wanted, keys_of(*((text, text) for text in sorted(texts))), NOON, DAY)
    sample = decode_head(value[:HEAD_BYTES]).shown.sample
    assert len(sample.keys) == min(len(texts), 10)
    assert all(len(text or "") <= 64 for key in (*sample.keys, sample.lowest) for text in key)
    assert decode(value, wanted) == stored


def test_keys_are_stored_without_a_sample_where_the_head_has_no_room_for_it() -> None:
    columns = 100
    wanted = date_filter("f1", ("string",) * columns)
    value, stored = encode(wanted, keys_of(("𝄞" * 64,) * columns), NOON, DAY)
    assert decode(value, wanted) == stored
    assert decode_head(value).shown.sample == KeySample()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (Decimal("0E-10"), "0.0000000000"),
        (datetime(2026, 3, 29, 2, 30, tzinfo=UTC), "2026-03-29T02:30:00+00:00"),
        (date(2026, 3, 29), "2026-03-29"),
        ("x" * 65, "x" * 63 + "…"),
        ("x" * 64, "x" * 64),
    ],
)
def test_values_are_shown_as_people_write_them(value: KeyValue, text: str) -> None:
    assert sampled_keys(keys_of((value,))).keys == ((text,),)


def test_of_a_composite_key_each_column_has_its_own_ends_and_a_null_is_not_placed() -> None:
    sample = sampled_keys(replace(keys_of((1, 9), (2, 3)), has_null=True))
    assert (sample.lowest, sample.highest) == (("1", "3"), ("2", "9"))
    assert sample.keys == (("1", "9"), ("2", "3"))


def test_a_long_predicate_is_cut_and_a_build_side_beyond_description_is_not_stored() -> None:
    long = replace(WANTED, build=replace(WANTED.build, predicate="x" * 100_000))
    assert len(decode_head(encode(long, DAYS, NOON, DAY)[0]).shown.predicate) == 2000
    many = tuple(TableName("lake", "s" * 200, f"t{index}") for index in range(300))
    with pytest.raises(Uncacheable):
        encode(replace(WANTED, build=replace(WANTED.build, tables=many)), DAYS, NOON, DAY)
