"""Chooses the string columns of a file that get a dictionary."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

_SAMPLED_ROWS = 4_096
# With fewer rows, sampling costs more than it saves.
_FEWEST_ROWS = 1_000


def dictionary_columns(paths: Sequence[str], rows: pa.Table) -> list[str]:
    """Returns the paths whose values repeat in these rows, the first rows of a file.

    Unique ids are smaller without a dictionary, and faster to write.
    """
    if rows.num_rows < _FEWEST_ROWS:
        return list(paths)
    sample = rows.slice(0, _SAMPLED_ROWS)
    # Columns in structs and lists are not sampled.
    tops = frozenset(rows.column_names)
    return [path for path in paths if path not in tops or _is_repeating(sample.column(path))]


def _is_repeating(values: pa.ChunkedArray) -> bool:
    distinct: int = pc.count_distinct(values, mode="only_valid").as_py()
    return bool(2 * distinct <= len(values) - values.null_count)
