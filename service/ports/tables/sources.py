"""Files that callers name: found, and opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from service.model.ingest.sources import SourceFile, SourceSplit


def never() -> bool:
    """For work that cannot be canceled."""
    return False


class Sources(Protocol):
    """Files that callers name, in locations that the operator allows."""

    def files(self, uri: str, is_canceled: Callable[[], bool] = never) -> Sequence[SourceFile]:
        """Returns the files at this address now, in the order of their names; at least one.

        Raises:
            SourceInvalid: it is not an address, matches no file, matches more than may be read at once, or
                takes too long to list.
            IngestCanceled: `is_canceled` returned True during the listing.
            SourceNotAllowed: the operator has not allowed it.
            StorageDown: the storage does not answer.
        """


class SplitOpener(Protocol):
    """Opens parts of sources wherever it is called: it can be pickled, and travels to executors."""

    def __call__(self, split: SourceSplit) -> AbstractContextManager[BinaryIO]:
        """Opens the bytes of the split.

        Raises:
            SourceChanged: the file differs from the one that was listed, before or after it was read.
            SourceNotAllowed: a link that was put there since leads elsewhere.
            OSError: the storage does not give it.
        """
