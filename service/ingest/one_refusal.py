"""Collects all errors of a request into one error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.errors.ingest_errors import IngestInvalid
from service.faults import Fault
from service.model.ingest.ingest_request import WriteFault


class OneRefusal:
    """A collector of errors, which continues after an error to find further ones.

    >>> refusal = OneRefusal()
    >>> for detail, violations in (("no upserts", ()), ("too wide", (Fault("a"), Fault("b")))):
    ...     with refusal.gathering():
    ...         raise IngestInvalid(detail, violations)
    >>> refusal.check()
    Traceback (most recent call last):
    service.errors.ingest_errors.IngestInvalid: no upserts
    """

    def __init__(self) -> None:
        self._found: list[IngestInvalid] = []

    @property
    def is_empty(self) -> bool:
        """Whether no error has been collected so far."""
        return not self._found

    def add(self, refused: IngestInvalid) -> None:
        """Collects this error too."""
        self._found.append(refused)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Collects an error raised inside, which ends the block."""
        try:
            yield
        except IngestInvalid as refused:
            self.add(refused)

    def check(self) -> None:
        """Checks that no error was collected.

        Raises:
            IngestInvalid: a single error unchanged; several errors as one with all their violations, of their
                class if they share one.
        """
        if not self._found:
            return
        first = self._found[0]
        if len(self._found) == 1:
            raise first
        violations = [
            violation for error in self._found for violation in error.violations or (Fault(error.detail),)
        ]
        kind = type(first) if len({type(error) for error in self._found}) == 1 else IngestInvalid
        raise kind(first.detail, violations)


@contextmanager
def refused_at(place: str) -> Iterator[None]:
    """Gives an error raised inside this place, a JSON pointer, if it has none of its own."""
    try:
        yield
    except IngestInvalid as refused:
        if refused.violations:
            raise
        raise IngestInvalid(refused.detail, [WriteFault(place, refused.detail)]) from None
