"""Names of jobs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.lineage.job_names import query_job, text_shape
from tests.fakes.query_records import short_record


def job(sql: str, **tags: str) -> str:
    return query_job(replace(short_record(), sql=sql, tags=tags))


@pytest.mark.parametrize(
    "other",
    [
        "select  a\n from t where b = 1",
        "SELECT a FROM t WHERE b = 2 -- the same, of another day",
        "SELECT a FROM t /* hi */ WHERE b = 1.5",
    ],
)
def test_one_text_with_other_values_is_one_job(other: str) -> None:
    assert job("SELECT a FROM t WHERE b = 1") == job(other)


@pytest.mark.parametrize(
    "other", ["SELECT a FROM t WHERE c = 1", "SELECT a FROM t WHERE b > 1", "SELECT a FROM t"]
)
def test_another_text_is_another_job(other: str) -> None:
    assert job("SELECT a FROM t WHERE b = 1") != job(other)


def test_where_names_are_looked_up_is_part_of_the_job() -> None:
    record = replace(short_record(), sql="SELECT a FROM t")
    assert query_job(record) != query_job(replace(record, schema="shop"))


def test_a_plain_tag_makes_the_name_readable() -> None:
    assert job("SELECT 1", job="daily-report").startswith("query.daily-report.")
    assert job("SELECT 1", dashboard="x") == job("SELECT 1")


@given(st.text(max_size=50), st.text(max_size=20))
def test_no_name_has_what_a_caller_wrote_in_it_but_a_plain_tag(sql: str, tag: str) -> None:
    name = job(sql, job=tag)
    prefix, digits = name.rsplit(".", 1)
    assert set(digits) <= set("0123456789abcdef")
    assert prefix in ("query", f"query.{tag}")
    assert name.isascii()
    assert " " not in name


def test_values_never_get_into_a_shape() -> None:
    assert "hunter2" not in text_shape("SELECT * FROM t WHERE password = 'hunter2' AND x = X'68756e74657232'")
