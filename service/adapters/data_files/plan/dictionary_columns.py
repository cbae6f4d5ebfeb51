"""Which texts of a file have a dictionary."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

_SAMPLED_ROWS = 4_096
# Of fewer, to look costs more than it saves.
_FEWEST_ROWS = 1_000


def dictionary_columns(paths: Sequence[str], rows: pa.Table) -> list[str]:
    """Those among the paths whose values repeat in these rows, which are a file's first.

    Ids, of which no two are alike, are smaller without, and quicker to write.
    """
    if rows.num_rows < _FEWEST_ROWS:
        return list(paths)
    sample = rows.slice(0, _SAMPLED_ROWS)
    # What lies in structs and lists is not looked at.
    tops = frozenset(rows.column_names)
    return [each for each in paths if each not in tops or _is_repeating(sample.column(each))]


def _is_repeating(values: pa.ChunkedArray) -> bool:
    distinct: int = pc.count_distinct(values, mode="only_valid").as_py()
    return bool(2 * distinct <= len(values) - values.null_count)
