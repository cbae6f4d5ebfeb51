"""Finds single rows without a partition, for which the writer would reject all rows."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from decimal import Decimal
from urllib.parse import quote_plus

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.model.tables.partition_rules import FolderBounds, PartitionRule, PartitionRules

_TRUNCATE = re.compile(r"truncate\[(\d+)\]")
_ESCAPED = 3
_INT_BITS = 32
_NULL = "null"


def invalid_partition_values(rows: pa.RecordBatch, rules: PartitionRules) -> dict[int, str]:
    """Returns the rows without a partition, each with one of its reasons.

    If all rows have a partition, at most a brief check is needed.

    >>> rules = PartitionRules((PartitionRule("share", ("share",), "double", "identity"),))
    >>> invalid_partition_values(pa.record_batch({"share": [0.5, None, float("nan")]}), rules)
    {2: 'share: NaN and infinity cannot be partition values'}
    """
    found: dict[int, str] = {}
    texts: list[_Text] = []
    for rule in rules.fields:
        values = _values(rows, rule.path)
        for is_bad, reason in _invalid_values_of(values, rule):
            found |= dict.fromkeys(_places(is_bad), f"{'.'.join(rule.path)}: {reason}")
        # Names of buckets are short.
        is_spelled = rule.transform == "identity" or _width(rule) is not None
        if rules.folders is not None and rule.kind in ("string", "binary") and is_spelled:
            texts.append(_Text(rule, values))
    if rules.folders is not None and texts:
        found |= _without_folder(texts, rules.folders)
    return found


def _values(rows: pa.RecordBatch, path: tuple[str, ...]) -> pa.Array:
    array = rows.column(path[0])
    for name in path[1:]:
        # Includes the NULLs of the struct.
        array = pc.struct_field(array, name)
    return array


def _invalid_values_of(values: pa.Array, rule: PartitionRule) -> Iterator[tuple[pa.Array, str]]:
    if rule.is_required and values.null_count:
        yield values.is_null(), "the table is partitioned by it, and it is NULL, though it is required"
    if types.is_floating(values.type):
        is_finite = pc.is_finite(values)
        if pc.all(is_finite).as_py() is False:
            yield pc.invert(is_finite), "NaN and infinity cannot be partition values"
    lowest = _lowest(values.type, _width(rule) or 1)
    least = None if lowest is None else pc.min(values)
    if least is not None and least.is_valid and least.as_py() < lowest:
        is_below = pc.less(values, pa.scalar(lowest, values.type))
        yield is_below, f"its {rule.transform} does not fit {_shown(values.type)} any more"


def _lowest(kind: pa.DataType, width: int) -> Decimal | int | None:
    """Returns the least number whose multiple of the width at or below it is of the type; None if all are."""
    if types.is_integer(kind):
        bits: int = kind.bit_width
        return -((1 << (bits - 1)) // width) * width
    if not types.is_decimal(kind):
        return None
    unscaled = -((10**kind.precision - 1) // width) * width
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -kind.scale))


def _shown(kind: pa.DataType) -> str:
    if types.is_decimal(kind):
        return f"decimal({kind.precision}, {kind.scale})"
    return "int" if kind.bit_width == _INT_BITS else "long"


def _width(rule: PartitionRule) -> int | None:
    found = _TRUNCATE.fullmatch(rule.transform)
    return None if found is None else int(found[1])


class _Text:
    """A column whose values become names of folders."""

    def __init__(self, rule: PartitionRule, values: pa.Array) -> None:
        self.column = ".".join(rule.path)
        self._start = len(quote_plus(rule.name, safe="")) + len("=")
        self._width = _width(rule)
        self._values = values
        self._is_bytes = rule.kind == "binary"

    def longest(self) -> int:
        """Returns an upper bound for the length of its folders' names."""
        most = pc.max(pc.binary_length(self._values)).as_py() or 0
        if self._is_bytes:
            used = most if self._width is None else min(most, self._width)
            characters = -(-used // 3) * 4
        else:
            # Four bytes of UTF-8 are at least one character.
            characters = most if self._width is None else min(most, self._width * 4)
        return self._start + max(characters * _ESCAPED, len(_NULL))

    def lengths(self) -> pa.Array:
        """Returns the length of the name of each row's folder."""
        folded = self._truncated().dictionary_encode(null_encoding="encode")
        lengths = [self._start + len(_name(value)) for value in folded.dictionary.to_pylist()]
        return pa.array(lengths, pa.int64()).take(folded.indices)

    def _truncated(self) -> pa.Array:
        if self._width is None:
            return self._values
        if self._is_bytes:
            return pc.binary_slice(self._values, 0, self._width)
        return pc.utf8_slice_codeunits(self._values, 0, self._width)


def _name(value: str | bytes | None) -> str:
    """Returns the name as Iceberg's `PartitionSpec.partitionToPath` spells it."""
    match value:
        case bytes():
            text = base64.b64encode(value).decode()
        case None:
            text = _NULL
        case _:
            text = value
    return quote_plus(text, safe="")


def _without_folder(texts: list[_Text], bounds: FolderBounds) -> dict[int, str]:
    longest = [text.longest() for text in texts]
    if sum(longest) <= bounds.together and (bounds.each is None or max(longest) <= bounds.each):
        return {}
    lengths = [text.lengths() for text in texts]
    together = lengths[0]
    for further in lengths[1:]:
        together = pc.add(pc.add(together, further), len("/"))
    column = texts[-1].column
    found = dict.fromkeys(_places(pc.greater(together, bounds.together)), _too_long(column))
    if bounds.each is not None:
        for text, length in zip(texts, lengths, strict=True):
            found |= dict.fromkeys(_places(pc.greater(length, bounds.each)), _too_long(text.column))
    return found


def _too_long(column: str) -> str:
    return f"{column}: the table is partitioned by it, and it is too long for the name of a folder"


def _places(is_bad: pa.Array) -> list[int]:
    places: list[int] = pc.indices_nonzero(is_bad).to_pylist()
    return places
