"""The way to a table's storage, which small writes need not look for anew each time."""

from __future__ import annotations

from functools import lru_cache

from pyiceberg.io import FileIO, load_file_io

from service.adapters.data_files.plan.writer_state import WriterState
from service.model.identity import Identity

_KEPT = 64


def kept_io(state: WriterState) -> FileIO:
    """What reads and writes files of this very state of a table, for any number of threads."""
    return _io(Identity(state))


@lru_cache(_KEPT)
def _io(state: Identity[WriterState]) -> FileIO:
    return load_file_io(dict(state.value.io_properties), state.value.location)
