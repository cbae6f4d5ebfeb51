"""Writes maps of column metrics in Avro: the bytes that PyIceberg writes, many times as fast.

These maps have about a thousand entries for a file of a table with hundreds of columns, and PyIceberg calls
several functions for every byte of an entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from pyiceberg.avro.encoder import BinaryEncoder
from pyiceberg.avro.writer import BinaryWriter, IntegerWriter, MapWriter, OptionWriter, StructWriter, Writer


def number(value: int) -> bytes:
    """Encodes a whole number of 64 bits as Avro does: zigzag, with a variable length.

    >>> [number(value).hex() for value in (0, -1, 1, 64, -(2**63))]
    ['00', '01', '02', '8001', 'ffffffffffffffffff01']
    """
    rest = (value << 1) ^ (value >> 63)
    found = bytearray()
    while rest & ~0x7F:
        found.append((rest & 0x7F) | 0x80)
        rest >>= 7
    found.append(rest)
    return bytes(found)


# Column ids, and the counts of small files.
_KNOWN = {index: number(index) for index in range(20_000)}


@dataclass(frozen=True)
class IntegerMapWriter(MapWriter):
    """Writes maps from whole numbers to whole numbers."""

    def write(self, encoder: BinaryEncoder, val: dict[int, int]) -> None:
        """See `MapWriter`."""
        try:
            content = b"".join(map(_KNOWN.__getitem__, chain.from_iterable(val.items())))
        except KeyError:
            content = b"".join(map(number, chain.from_iterable(val.items())))
        _write(encoder, len(val), content)


@dataclass(frozen=True)
class BinaryMapWriter(MapWriter):
    """Writes maps from whole numbers to bytes."""

    def write(self, encoder: BinaryEncoder, val: dict[int, bytes]) -> None:
        """See `MapWriter`."""
        parts = [part for key, value in val.items() for part in (number(key), number(len(value)), value)]
        _write(encoder, len(val), b"".join(parts))


def quick(writer: Writer) -> Writer:
    """Returns a faster writer that writes the same bytes."""
    match writer:
        case StructWriter():
            return StructWriter(
                tuple((position, quick(field_writer)) for position, field_writer in writer.field_writers)
            )
        case OptionWriter():
            return OptionWriter(quick(writer.option))
        case MapWriter(IntegerWriter(), IntegerWriter()):
            return IntegerMapWriter(writer.key_writer, writer.value_writer)
        case MapWriter(IntegerWriter(), BinaryWriter()):
            return BinaryMapWriter(writer.key_writer, writer.value_writer)
        case _:
            return writer


def _write(encoder: BinaryEncoder, count: int, content: bytes) -> None:
    encoder.write_int(count)
    if count:
        encoder.write(content)
        encoder.write_int(0)
