from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import parse_one

from service.model.tables.tables import PartitionField, TableFacts
from service.pruning.scan_layout.reaches_lowest_bucket import reaches_lowest_bucket
from tests.unit.pruning.tables import TABLES

SALES = next(table for table in TABLES.values() if table.name.table == "sales")
BY_TENS = replace(SALES, partition_fields=(PartitionField("k_trunc", "k", "truncate[10]"),))


@pytest.mark.parametrize(
    ("condition", "is_reached"),
    [
        ("`k` BETWEEN -2147483648 AND 100", True),
        ("`k` BETWEEN -2147483641 AND 100", True),
        ("`k` BETWEEN -2147483640 AND 100", False),
        ("`K` BETWEEN 1 AND 4 OR `K` BETWEEN -9223372036854775808 AND -7", True),
        ("`k` = -2147483648 OR `k` BETWEEN 1 AND 4", False),
        ("`j` BETWEEN -2147483648 AND 100", False),
        ("`k` BETWEEN CAST('2024-01-01' AS DATE) AND CAST('2024-01-02' AS DATE)", False),
    ],
)
def test_a_range_that_begins_in_the_bucket_that_runs_over_is_found(condition: str, is_reached: bool) -> None:
    assert reaches_lowest_bucket(parse_one(condition, read="spark"), BY_TENS) is is_reached


@pytest.mark.parametrize(
    ("table", "is_reached"),
    [
        (replace(SALES, past_partition_fields=BY_TENS.partition_fields), True),
        (replace(SALES, partition_fields=(PartitionField("k", "k", "identity"),)), False),
        (replace(SALES, partition_fields=(PartitionField("k", "k", "truncate[4000000000]"),)), False),
    ],
)
def test_specs_of_the_past_count_and_buckets_that_hold_more_than_an_int(
    table: TableFacts, is_reached: bool
) -> None:
    condition = parse_one("`k` BETWEEN -2147483648 AND 100", read="spark")
    assert reaches_lowest_bucket(condition, table) is is_reached
