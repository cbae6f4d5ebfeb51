"""The statements of Spark SQL that change a layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.tables.tables import TableName

_TARGET = "target-file-size-bytes"


def sort_statements(table: TableName, columns: Sequence[str], file_bytes: int) -> tuple[str, ...]:
    """Returns statements that sort the files of now, and have later writes sorted, too."""
    order = ", ".join(f"{quoted(column)} ASC NULLS FIRST" for column in columns)
    return (
        f"ALTER TABLE {_name(table)} WRITE ORDERED BY {order}",
        *_file_size(table, file_bytes),
        _rewrite(table, {"rewrite-all": "true", _TARGET: str(file_bytes)}, order),
    )


def partition_statements(table: TableName, column: str, transform: str) -> tuple[str, ...]:
    """Returns statements that add a partition field, and rewrite the files of now by it.

    >>> partition_statements(TableName("lake", "shop", "sales"), "at", "day")[0]
    'ALTER TABLE `lake`.`shop`.`sales` ADD PARTITION FIELD days(`at`)'
    """
    field = quoted(column) if transform == "identity" else f"{transform}s({quoted(column)})"
    return (
        f"ALTER TABLE {_name(table)} ADD PARTITION FIELD {field}",
        _rewrite(table, {"rewrite-all": "true"}),
    )


def file_size_statements(table: TableName, file_bytes: int) -> tuple[str, ...]:
    """Returns statements that set another size of files, and rewrite the files of now."""
    return (
        *_file_size(table, file_bytes),
        _rewrite(table, {"rewrite-all": "true", _TARGET: str(file_bytes)}),
    )


def compaction_statements(table: TableName) -> tuple[str, ...]:
    """Returns the statement that puts small files together."""
    return (_rewrite(table, {}),)


def bloom_filter_statements(table: TableName, column: str) -> tuple[str, ...]:
    """Returns statements that have bloom filters written, and rewrite the files of now."""
    property_ = f"write.parquet.bloom-filter-enabled.column.{column}"
    return (
        f"ALTER TABLE {_name(table)} SET TBLPROPERTIES ({_text(property_)} = 'true')",
        _rewrite(table, {"rewrite-all": "true"}),
    )


def quoted(name: str) -> str:
    """Returns a name as SQL writes it, whatever is in it.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _file_size(table: TableName, file_bytes: int) -> tuple[str, ...]:
    return (
        f"ALTER TABLE {_name(table)} SET TBLPROPERTIES ('write.target-file-size-bytes' = '{file_bytes}')",
    )


def _rewrite(table: TableName, options: Mapping[str, str], order: str | None = None) -> str:
    within = ".".join(map(quoted, table.parts[1:]))
    arguments = [f"table => {_text(within)}"]
    if order is not None:
        arguments += ["strategy => 'sort'", f"sort_order => {_text(order)}"]
    if options:
        pairs = ", ".join(f"{_text(name)}, {_text(value)}" for name, value in options.items())
        arguments.append(f"options => map({pairs})")
    return f"CALL {quoted(table.catalog)}.system.rewrite_data_files({', '.join(arguments)})"


def _name(table: TableName) -> str:
    return ".".join(map(quoted, table.parts))


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
