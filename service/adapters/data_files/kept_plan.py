"""Plans for files are made once: small ingests come again and again with the same few write schemas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from service.adapters.data_files.file_plan import FilePlan
from service.adapters.data_files.writer_state import WriterState
from service.model.writing import WriteTarget

_PLANS_KEPT = 256


def kept_plan(state: WriterState, target: WriteTarget) -> FilePlan:
    """The plan for a target of this very state of the table.

    Raises:
        IngestInvalid: the target belongs to another schema or spec, or no files can be written for it.
    """
    return _plan(_This(state), target)


@dataclass(frozen=True, slots=True)
class _This:
    """A state by its identity: `WriterState.decoded` gives one object for the same bytes."""

    state: WriterState

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and self.state is other.state

    def __hash__(self) -> int:
        return id(self.state)


@lru_cache(_PLANS_KEPT)
def _plan(this: _This, target: WriteTarget) -> FilePlan:
    return FilePlan.of(this.state, target)
