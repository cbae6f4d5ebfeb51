from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as some
from pyiceberg.avro.encoder import BinaryEncoder
from pyiceberg.avro.resolver import construct_writer
from pyiceberg.avro.writer import MapWriter, OptionWriter, StructWriter, Writer
from pyiceberg.typedef import Record
from pyiceberg.types import BinaryType, LongType, StringType

from service.adapters.commits.avro_maps import quick

NUMBERS = some.one_of(
    some.integers(0, 300), some.integers(19_990, 20_010), some.integers(-(2**63), 2**63 - 1)
)
STRINGS, INTEGERS, BYTES = (
    construct_writer(StringType()),
    construct_writer(LongType()),
    construct_writer(BinaryType()),
)
ENTRY = StructWriter(
    (
        (0, STRINGS),
        (1, OptionWriter(MapWriter(INTEGERS, INTEGERS))),
        (2, OptionWriter(MapWriter(INTEGERS, BYTES))),
        (3, MapWriter(INTEGERS, STRINGS)),
    )
)


def written(writer: Writer, value: Record) -> bytes:
    stream = io.BytesIO()
    writer.write(BinaryEncoder(stream), value)
    return stream.getvalue()


@given(
    some.one_of(some.none(), some.dictionaries(NUMBERS, NUMBERS)),
    some.one_of(some.none(), some.dictionaries(NUMBERS, some.binary(max_size=200))),
    some.dictionaries(NUMBERS, some.text(), max_size=2),
)
def test_entries_have_the_very_bytes_that_pyiceberg_gives_them(
    counts: dict[int, int] | None, bounds: dict[int, bytes] | None, names: dict[int, str]
) -> None:
    entry = Record("file", counts, bounds, names)
    assert written(quick(ENTRY), entry) == written(ENTRY, entry)
    assert quick(ENTRY) != ENTRY
