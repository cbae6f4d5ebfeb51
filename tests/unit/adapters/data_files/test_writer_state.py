from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from pyiceberg.table.sorting import NullOrder, SortDirection

from service.adapters.data_files.plan.writer_state import WriterState
from tests.unit.adapters.data_files.states import order_of, spec_of, state_of


def test_what_is_encoded_is_decoded(tmp_path: Path) -> None:
    spec = spec_of((1, "bucket[4]", "b"), (2, "day", "d"), (6, "truncate[3]", "c"), (3, "void", "v"))
    order = order_of((2, SortDirection.DESC, NullOrder.NULLS_FIRST))
    state = state_of(tmp_path, spec=spec, order=order, properties={"write.data.path": "s3://b/d"})
    other = order.model_copy(update={"order_id": 7})
    given = replace(state, io_properties={"s3.secret-access-key": "k"}, sort_orders=(order, other))
    found = WriterState.decoded(given.encoded())
    assert (found.sort_orders, found.order(7)) == ((order, other), other)
    assert found.spec == spec
    assert found.spec.spec_id == 4
    assert found.sort_order == order
    assert (found.location, found.properties) == (state.location, state.properties)
    assert found.io_properties == {"s3.secret-access-key": "k"}
    assert (found.schema, found.schema.schema_id) == (state.schema, 3)
    assert found.schema.find_field(11).initial_default == 1


def test_no_text_shows_credentials(tmp_path: Path) -> None:
    assert "hidden" not in repr(replace(state_of(tmp_path), io_properties={"s3.secret-access-key": "hidden"}))


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 99"):
        WriterState.decoded(zlib.compress(b'{"version":99}'))
