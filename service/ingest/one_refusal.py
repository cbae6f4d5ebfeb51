"""All that is wrong with a request, as one error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.errors import IngestInvalid
from service.model.ingest.ingest import WriteFault


class OneRefusal:
    """Goes on where something is refused, to find what else is.

    >>> refusal = OneRefusal()
    >>> for detail, violations in (("no upserts", ()), ("too wide", ("a", "b"))):
    ...     with refusal.gathering():
    ...         raise IngestInvalid(detail, violations)
    >>> refusal.check()
    Traceback (most recent call last):
    service.errors.IngestInvalid: no upserts
    """

    def __init__(self) -> None:
        self._found: list[IngestInvalid] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was refused so far."""
        return not self._found

    def add(self, refused: IngestInvalid) -> None:
        """Keeps this, too."""
        self._found.append(refused)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """What is refused inside is kept, and the rest of it is left out."""
        try:
            yield
        except IngestInvalid as refused:
            self.add(refused)

    def check(self) -> None:
        """Returns where nothing was refused.

        Raises:
            IngestInvalid: the only one as it is; of several one with the violations of all, of their class if
                they share one.
        """
        if not self._found:
            return
        first = self._found[0]
        if len(self._found) == 1:
            raise first
        violations = [violation for each in self._found for violation in each.violations or (each.detail,)]
        kind = type(first) if len({type(each) for each in self._found}) == 1 else IngestInvalid
        raise kind(first.detail, violations)


@contextmanager
def refused_at(place: str) -> Iterator[None]:
    """What is refused inside has this place, a JSON pointer, if it has none of its own."""
    try:
        yield
    except IngestInvalid as refused:
        if refused.violations:
            raise
        raise IngestInvalid(refused.detail, [WriteFault(place, refused.detail)]) from None
