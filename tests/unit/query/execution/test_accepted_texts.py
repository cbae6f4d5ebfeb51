"""A text that passed its checks is not read again, and one that did not is refused each time."""

from __future__ import annotations

import pytest

from service.errors.statement_errors import SqlManyStatements, SqlTooDeep, SqlTooLarge
from service.query.execution.accepted_texts import MAX_TEXTS, AcceptedTexts

DEEP = f"SELECT {'(' * 20}1{')' * 20}"


def test_a_text_that_passed_is_known() -> None:
    texts = AcceptedTexts()
    texts.check("SELECT 1", max_bytes=100)
    texts.check("SELECT 1", max_bytes=100)
    texts.check("SELECT 2", max_bytes=100)
    assert (texts.use.hits, texts.use.misses, texts.use.entries) == (1, 2, 2)


@pytest.mark.parametrize(
    ("sql", "refused"),
    [("SELECT 1; SELECT 2", SqlManyStatements), (f"SELECT '{'x' * 100}'", SqlTooLarge)],
    ids=["two statements", "too large"],
)
def test_a_text_that_was_refused_is_refused_again(sql: str, refused: type[Exception]) -> None:
    texts = AcceptedTexts()
    for _ in range(2):
        with pytest.raises(refused):
            texts.check(sql, max_bytes=100)
    assert texts.use.entries == 0


def test_other_bounds_are_another_question() -> None:
    texts = AcceptedTexts()
    texts.check(DEEP, 1000, 30)
    with pytest.raises(SqlTooDeep):
        texts.check(DEEP, 1000, 10)
    with pytest.raises(SqlTooLarge):
        texts.check(DEEP, 10, 30)


def test_the_texts_have_a_bound() -> None:
    texts = AcceptedTexts()
    for number in range(MAX_TEXTS + 10):
        texts.check(f"SELECT {number}", max_bytes=100)
    assert texts.use.entries == MAX_TEXTS
