"""The bounds of a result."""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from spark_session.engine.run_statement import within

ROWS = st.lists(st.integers(0, 500), max_size=40).map(lambda sizes: pa.table({"s": ["x" * n for n in sizes]}))


def bounded(row_limit: int = 1000, byte_limit: int = 1 << 30) -> Statement:
    return Statement(
        UUID(int=1), "SELECT 1", (), None, None, row_limit, byte_limit, lambda: False, FULL_ACCESS
    )


def test_what_fits_stays_whole() -> None:
    rows = pa.table({"n": [1, 2, 3]})
    assert within(rows, bounded()) == (rows, False)
    assert within(rows, bounded(row_limit=3)) == (rows, False)
    assert within(rows, bounded(byte_limit=rows.nbytes)) == (rows, False)


def test_more_rows_than_allowed_are_cut_off_and_that_is_said() -> None:
    assert within(pa.table({"n": [1, 2, 3]}), bounded(row_limit=2)) == (pa.table({"n": [1, 2]}), True)


def test_more_bytes_than_allowed_are_cut_off_and_that_is_said() -> None:
    limited, is_truncated = within(pa.table({"n": pa.array(range(100), pa.int64())}), bounded(byte_limit=80))
    assert (limited.num_rows, is_truncated) == (10, True)


def test_one_row_is_returned_however_large_it_is() -> None:
    limited, is_truncated = within(pa.table({"s": ["x" * 1000, "y"]}), bounded(byte_limit=1))
    assert (limited.num_rows, is_truncated) == (1, True)


def test_a_large_first_row_does_not_let_small_ones_over_the_bound() -> None:
    rows = pa.table({"s": ["x" * 10_000] + ["y"] * 1000})
    limited, is_truncated = within(rows, bounded(row_limit=1001, byte_limit=9_000))
    assert (limited.num_rows, is_truncated) == (1, True)


def test_no_rows_are_no_truncation() -> None:
    rows = pa.table({"s": pa.array([], pa.string())})
    assert within(rows, bounded(byte_limit=0)) == (rows, False)


@settings(deadline=None)
@given(ROWS, st.integers(1, 50), st.integers(0, 10_000))
def test_the_answer_is_the_longest_beginning_within_both_bounds(
    rows: pa.Table, row_limit: int, byte_limit: int
) -> None:
    limited, is_truncated = within(rows, bounded(row_limit, byte_limit))
    count = limited.num_rows
    assert limited == rows.slice(0, count)
    assert is_truncated == (count < rows.num_rows)
    assert count <= row_limit
    assert count <= 1 or limited.nbytes <= byte_limit
    if is_truncated and count < row_limit:
        assert rows.slice(0, count + 1).nbytes > byte_limit


@settings(deadline=None)
@given(ROWS)
def test_bytes_are_those_of_the_rows_however_they_were_sliced(rows: pa.Table) -> None:
    twice = pa.concat_tables([rows, rows]).slice(rows.num_rows)
    limited, _ = within(twice, bounded(byte_limit=rows.nbytes + 16))
    assert limited == rows
