"""Advice for callers whose records lack columns that the table requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from service.errors.ingest_errors import RecordsInvalid
from service.faults import Faulty
from service.model.ingest.ingest import BadRecord
from service.model.ingest.ingest_request import Write

_ADVICE = 'A required column becomes optional only with "dropRequired": true beside "evolve".'


@contextmanager
def required_advice(writes: Iterable[Write]) -> Iterator[None]:
    """Adds advice to an error about missing required values, where a write evolves its table.

    Raises:
        RecordsInvalid: the error that was raised inside; only its detail may differ.
    """
    try:
        yield
    except RecordsInvalid as error:
        if not (any(map(_retains_required, writes)) and any(map(_is_missing, error.violations))):
            raise
        raise RecordsInvalid(f"{error.detail} {_ADVICE}", error.violations, error.bad_count) from error


def _retains_required(write: Write) -> bool:
    asked = write.schema
    return asked is not None and asked.evolves and not asked.drops_required


def _is_missing(violation: Faulty) -> bool:
    return isinstance(violation, BadRecord) and violation.reason.endswith(" is required")
