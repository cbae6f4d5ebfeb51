"""The sources of streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.model.ingest.micro_batches import FoundFiles
from service.model.ingest.streams import StreamSource


class StreamSources(Protocol):
    """The places that the operator lets streams read."""

    def check(self, source: StreamSource) -> None:
        """Checks that a stream may read there.

        Raises:
            SourceNotAllowed: it may not.
            StreamInvalid: it cannot be the source of a stream.
        """

    def files(self, uris: Sequence[str]) -> FoundFiles:
        """Returns these files of a folder as they are now, and those that are gone or have no address.

        Raises:
            SourceNotAllowed: a file lies outside of the allowed locations.
            StreamSourceDown: a file is gone, and so is the folder.
            StorageDown: the storage does not answer.
        """
