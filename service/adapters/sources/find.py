"""Finds the files that an address matches."""

from __future__ import annotations

from collections.abc import Callable

from service.adapters.clock import SystemClock
from service.adapters.sources.glob_search import GlobSearch
from service.adapters.sources.object_stores import in_gateway_terms
from service.adapters.sources.search_budget import SearchBudget
from service.adapters.sources.storage import Entry, SourceAccess, entry, tag
from service.errors.source_errors import SourceChanged, SourceInvalid
from service.model.ingest.source_uris import SourceUri
from service.model.ingest.sources import SourceBounds, SourceFile
from service.ports.clock import Clock
from service.ports.tables.sources import never


class FoundSources:
    """Implements `service.ports.tables.sources.Sources`. Thread-safe."""

    def __init__(self, access: SourceAccess, bounds: SourceBounds, clock: Clock | None = None) -> None:
        self._access = access
        self._bounds = bounds
        self._clock = clock or SystemClock()

    def files(self, uri: str, is_canceled: Callable[[], bool] = never) -> tuple[SourceFile, ...]:
        """Returns the files that the address matches now, ordered by name.

        Raises:
            SourceInvalid: the address is not valid, matches no file or more than may be read at once, or the
                search takes too long.
            IngestCanceled: the ingest was canceled.
            SourceNotAllowed: the operator has not allowed it.
            SourceChanged: a file was deleted at that moment.
            SourceDenied: the storage denies the gateway access.
            StorageDown: the storage does not answer.
        """
        parsed = self.checked(uri)
        try:
            budget = SearchBudget(self._bounds, self._clock, is_canceled)
            found = _Search(self._access, self._bounds, budget).files(parsed)
        except FileNotFoundError as error:
            raise SourceChanged(
                f"{uri} was changed while it was searched. Nothing was accepted: send the request again."
            ) from error
        except OSError as error:
            raise in_gateway_terms(uri, error) from error
        if not found:
            raise SourceInvalid(f"There is no file {uri}.")
        return found

    def checked(self, uri: str) -> SourceUri:
        """Returns the parsed address, if it may be read.

        Raises:
            SourceInvalid: it is not a valid address.
            SourceNotAllowed: the operator has not allowed it.
        """
        try:
            parsed = SourceUri.parse(uri)
        except ValueError as error:
            raise SourceInvalid(f"{uri!r} cannot be read: {error}.") from error
        self._access.check(parsed)
        return parsed


class _Search:
    """One search for the files of one address."""

    def __init__(self, access: SourceAccess, bounds: SourceBounds, budget: SearchBudget) -> None:
        self._access = access
        self._bounds = bounds
        self._budget = budget
        self._byte_count = 0
        self._found: dict[str, SourceFile] = {}

    def files(self, uri: SourceUri) -> tuple[SourceFile, ...]:
        fixed = uri.fixed
        start = SourceUri(uri.scheme, uri.authority, fixed)
        rest = uri.segments[len(fixed) :]
        if rest:
            for file in GlobSearch(self._access, rest, self._budget).files(start):
                self._take(file.uri, file.entry)
        else:
            self._take_one(start)
        return tuple(self._found[key] for key in sorted(self._found))

    def _take_one(self, uri: SourceUri) -> None:
        found = entry(self._access, uri)
        if found is not None and found.is_folder:
            raise SourceInvalid(f"{uri} is a folder. Name the files in it, as {uri}/*.")
        if found is not None:
            self._take(uri, found)

    def _take(self, uri: SourceUri, found: Entry) -> None:
        self._access.check_real(uri)
        name = _address(uri)
        if name not in self._found:
            self._byte_count += found.byte_count
        version = tag(self._access, uri) if found.byte_count > self._bounds.untagged_bytes else ""
        self._found[name] = SourceFile(name, found.byte_count, found.modified_ns, version)
        if len(self._found) > self._bounds.files:
            raise SourceInvalid(
                f"The source has more than {self._bounds.files} files: see the setting"
                " ingest_source_max_files."
            )
        if self._byte_count > self._bounds.byte_count:
            raise SourceInvalid(
                f"The source has more than {self._bounds.byte_count} bytes: see the setting"
                " ingest_source_max_bytes."
            )


def _address(uri: SourceUri) -> str:
    """The address that executors read; a name found in storage may not be a valid one.

    >>> _address(SourceUri("s3", "b", ("a [1].json",)))
    's3://b/a [1].json'
    """
    name = str(uri)
    try:
        SourceUri.parse(name)
    except ValueError as error:
        raise SourceInvalid(f"{name!r} cannot be read: {error}. Rename it, or name others.") from error
    return name
