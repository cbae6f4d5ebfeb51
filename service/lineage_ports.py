"""Who is told of what was read and written, as it begins and ends."""

from __future__ import annotations

from typing import Protocol

from service.model.ingest.ingest import IngestRecord
from service.model.operations.maintenance import MaintenanceRecord
from service.model.query.lineage import EndedRound
from service.model.query.query import QueryRecord


class Lineage(Protocol):
    """Tells others of runs. Nothing blocks, nothing raises: what cannot be told in time is left out."""

    @property
    def is_followed(self) -> bool:
        """Whether anybody is told; if not, nobody need find out what a result comes from."""

    def query_taken(self, record: QueryRecord) -> None:
        """A query was taken in. Exactly one `query_ended` follows, unless the process ends before."""

    def query_ended(self, record: QueryRecord) -> None:
        """A query has ended, whatever its end."""

    def ingest_accepted(self, record: IngestRecord, read_from: str) -> None:
        """An ingest is durable; `read_from` is the address of what it read, empty for what was sent."""

    def round_ended(self, ended: EndedRound) -> None:
        """A commit round has ended."""

    def maintained(self, record: MaintenanceRecord) -> None:
        """A maintenance has ended."""


class NoLineage:
    """For whoever tells nobody."""

    @property
    def is_followed(self) -> bool:
        """Nobody is told."""
        return False

    def query_taken(self, record: QueryRecord) -> None:
        """Does nothing."""

    def query_ended(self, record: QueryRecord) -> None:
        """Does nothing."""

    def ingest_accepted(self, record: IngestRecord, read_from: str) -> None:
        """Does nothing."""

    def round_ended(self, ended: EndedRound) -> None:
        """Does nothing."""

    def maintained(self, record: MaintenanceRecord) -> None:
        """Does nothing."""
