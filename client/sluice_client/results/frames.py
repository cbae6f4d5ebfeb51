"""Arrow tables as data frames of pandas and polars, which are optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    import pandas
    import polars

PandasTypes: TypeAlias = Literal["arrow", "numpy"]


def to_pandas(rows: pa.Table, types: PandasTypes = "arrow") -> pandas.DataFrame:
    """Returns a pandas data frame.

    Args:
        rows: the rows.
        types: `arrow` keeps the type of every column. `numpy` converts to numpy's types where it can:
            integers with nulls become floats, and decimals and nested values become objects.

    Raises:
        ImportError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas() needs pandas: pip install 'sluice-client[pandas]'") from None
    frame: pandas.DataFrame = rows.to_pandas(types_mapper=pandas.ArrowDtype if types == "arrow" else None)
    return frame


def to_polars(rows: pa.Table) -> polars.DataFrame:
    """Returns a polars data frame.

    Raises:
        ImportError: polars is not installed.
    """
    try:
        import polars
    except ImportError:
        raise ImportError("polars() needs polars: pip install 'sluice-client[polars]'") from None
    frame = polars.from_arrow(rows)
    assert isinstance(frame, polars.DataFrame), "a table is a frame, not a series"
    return frame
