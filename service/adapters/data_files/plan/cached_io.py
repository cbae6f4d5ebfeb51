"""A cached file IO for a table's storage, so that small writes need not create one each time."""

from __future__ import annotations

from functools import lru_cache

from pyiceberg.io import FileIO, load_file_io

from service.adapters.data_files.plan.writer_state import WriterState
from service.model.identity import Identity

_MAX_CACHED = 64


def cached_io(state: WriterState) -> FileIO:
    """Returns the file IO for exactly this state of a table; any number of threads may use it."""
    return _io(Identity(state))


@lru_cache(_MAX_CACHED)
def _io(state: Identity[WriterState]) -> FileIO:
    return load_file_io(dict(state.value.io_properties), state.value.location)
