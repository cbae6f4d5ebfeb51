"""Reports what was read and written, as it begins and ends."""

from __future__ import annotations

from typing import Protocol

from service.model.ingest.ingest import IngestRecord
from service.model.operations.maintenance import MaintenanceRecord
from service.model.query.lineage import EndedRound
from service.model.query.query import QueryRecord


class Lineage(Protocol):
    """Reports runs to others. Nothing blocks or raises: an event that cannot be sent in time is left out."""

    @property
    def is_followed(self) -> bool:
        """Whether anything is reported; if not, the columns that a result comes from need not be found."""

    def query_taken(self, record: QueryRecord) -> None:
        """A query was accepted. Exactly one `query_ended` follows, unless the process ends before."""

    def query_ended(self, record: QueryRecord) -> None:
        """A query has ended, whatever its end."""

    def ingest_accepted(self, record: IngestRecord, read_from: str) -> None:
        """An ingest is durable; `read_from` is the address that it read, empty for records in the request."""

    def round_ended(self, ended: EndedRound) -> None:
        """A commit round has ended."""

    def maintained(self, record: MaintenanceRecord) -> None:
        """A maintenance has ended."""


class NoLineage:
    """Reports nothing."""

    @property
    def is_followed(self) -> bool:
        """Returns False."""
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
