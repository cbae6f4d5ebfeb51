from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
import sqlglot
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
)

from service.adapters.keys.key_literals import NotTranslatable, literal_value
from service.model.filters.key_selection import LiteralValue


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("7", IntegerType(), 7),
        ("-7", LongType(), -7),
        ("(1999 + 1)", IntegerType(), 2000),
        ("1999 - (1 + 1)", LongType(), 1997),
        ("3000000000", LongType(), 3_000_000_000),
        ("'ab'", StringType(), "ab"),
        ("DATE '2000-02-29'", DateType(), date(2000, 2, 29)),
        ("CAST('2000-02-29' AS DATE)", DateType(), date(2000, 2, 29)),
        ("CAST('1999-02-22' AS DATE) + INTERVAL 30 DAYS", DateType(), date(1999, 3, 24)),
        ("(DATE '1999-02-22' - INTERVAL '3' DAY)", DateType(), date(1999, 2, 19)),
        ("DATE '2000-01-31' + INTERVAL 1 MONTH", DateType(), date(2000, 2, 29)),
        ("DATE '2000-02-29' - INTERVAL '1' YEAR", DateType(), date(1999, 2, 28)),
        ("(DATE '1999-12-31' + INTERVAL '-13' MONTHS) + 1", DateType(), date(1998, 12, 1)),
        ("date_add(DATE '1999-02-22', 30)", DateType(), date(1999, 3, 24)),
        ("DATE '1999-02-22' - (1 + 1)", DateType(), date(1999, 2, 20)),
        ("1.50", DecimalType(5, 2), Decimal("1.50")),
        ("1.5", DecimalType(5, 2), Decimal("1.50")),
        ("1.5000", DecimalType(5, 2), Decimal("1.50")),
        ("(62 + 30)", DecimalType(5, 2), Decimal("92.00")),
        ("-15", DecimalType(5, 2), Decimal("-15.00")),
        ("-0.25", DecimalType(5, 2), Decimal("-0.25")),
    ],
)
def test_a_literal_of_the_columns_own_type_is_its_value(
    text: str, type_: IcebergType, value: LiteralValue
) -> None:
    assert literal_value(sqlglot.parse_one(text, read="spark"), type_, ()) == value


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("3000000000", IntegerType()),
        ("2147483647 + 1", LongType()),
        ("7L", LongType()),
        ("1e3", LongType()),
        ("7 * 2", IntegerType()),
        ("NULL", IntegerType()),
        ("TRUE", IntegerType()),
        ("'7'", IntegerType()),
        ("7", StringType()),
        ("1.505", DecimalType(5, 2)),
        ("1234.50", DecimalType(5, 2)),
        ("1234", DecimalType(5, 2)),
        ("1", DecimalType(38, 30)),
        ("'1.5'", DecimalType(5, 2)),
        ("1.5 + 1", DecimalType(5, 2)),
        ("DATE '2001-02-29'", DateType()),
        ("DATE '2000'", DateType()),
        ("current_date()", DateType()),
        ("DATE '9999-12-31' + 1", DateType()),
        ("DATE '9999-12-31' + INTERVAL 1 MONTH", DateType()),
        ("DATE '0001-01-01' - INTERVAL '3' YEARS", DateType()),
        ("DATE '2000-01-01' + INTERVAL 2 HOURS", DateType()),
        ("DATE '2000-01-01' + INTERVAL '1-2' YEAR TO MONTH", DateType()),
        ("DATE '2000-01-01' + INTERVAL '1.5' DAY", DateType()),
        ("DATE '2000-01-01' + INTERVAL (1 + 1) DAYS", DateType()),
        ("DATE '2000-01-01' + INTERVAL 1 MONTH 2 DAYS", DateType()),
        ("DATE '2000-01-02' - DATE '2000-01-01'", DateType()),
        ("date_add('2000-01-02', 1)", DateType()),
        ("add_months(DATE '2000-01-31', 1)", DateType()),
        ("DATE '2000-01-01'", TimestampType()),
        ("1.5", DoubleType()),
        ("r'a'", StringType()),
        ("'a' || 'b'", StringType()),
    ],
)
def test_whatever_else_is_left_to_the_engine(text: str, type_: IcebergType) -> None:
    with pytest.raises(NotTranslatable):
        literal_value(sqlglot.parse_one(text, read="spark"), type_, ())
