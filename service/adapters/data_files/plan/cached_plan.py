"""Caches file plans: small ingests arrive again and again with the same few write schemas."""

from __future__ import annotations

from functools import lru_cache

from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.plan.writer_state import WriterState
from service.model.identity import Identity
from service.model.ingest.writing import WriteTarget

_MAX_CACHED_PLANS = 256


def cached_plan(state: WriterState, target: WriteTarget) -> FilePlan:
    """Returns the plan for a target of exactly this state of the table.

    Raises:
        IngestInvalid: the target belongs to another schema or spec, or no files can be written for it.
    """
    # `WriterState.decoded` returns the same object for the same bytes.
    return _plan(Identity(state), target)


def cached_delete_plan(state: WriterState, target: WriteTarget) -> FilePlan:
    """Returns the plan for the files that delete the rows replaced by the target's rows.

    Raises:
        IngestInvalid: equality deletes cannot hold the keys of this target.
    """
    return _plan_of_deletes(Identity(state), target)


@lru_cache(_MAX_CACHED_PLANS)
def _plan(state: Identity[WriterState], target: WriteTarget) -> FilePlan:
    return FilePlan.of(state.value, target)


@lru_cache(_MAX_CACHED_PLANS)
def _plan_of_deletes(state: Identity[WriterState], target: WriteTarget) -> FilePlan:
    return FilePlan.of_deletes(state.value, target)
