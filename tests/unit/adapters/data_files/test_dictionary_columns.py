from __future__ import annotations

import pyarrow as pa

from service.adapters.data_files.plan.dictionary_columns import dictionary_columns

ROWS = 2_000
TABLE = pa.table(
    {
        "id": [str(number) for number in range(ROWS)],
        "word": [str(number % 7) for number in range(ROWS)],
        "rare": [str(number) if number < 10 else None for number in range(ROWS)],
        "nothing": pa.nulls(ROWS, pa.string()),
    }
)


def test_only_texts_that_repeat_have_a_dictionary() -> None:
    assert dictionary_columns(TABLE.column_names, TABLE) == ["word", "nothing"]


def test_of_few_rows_all_texts_have_one() -> None:
    assert dictionary_columns(TABLE.column_names, TABLE.slice(0, 999)) == TABLE.column_names


def test_what_lies_inside_of_others_has_one() -> None:
    assert dictionary_columns(["place.city", "tags.list.element"], TABLE) == [
        "place.city",
        "tags.list.element",
    ]
