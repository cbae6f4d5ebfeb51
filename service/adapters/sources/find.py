"""The files that an address means."""

from __future__ import annotations

from collections.abc import Iterator

from service.adapters.sources.object_stores import in_gateway_terms
from service.adapters.sources.storage import Entry, SourceAccess, entries, entry, tag
from service.errors import SourceChanged, SourceInvalid
from service.model.source_uris import SourceUri, is_match
from service.model.sources import SourceBounds, SourceFile

# Any number of folders, none among them.
_ANY_DEPTH = "**"
_DEPTH_AT_MOST = 100


class FoundSources:
    """Implements `service.ingest_ports.Sources`. May be used from several threads at once."""

    def __init__(self, access: SourceAccess, bounds: SourceBounds) -> None:
        self._access = access
        self._bounds = bounds

    def files(self, uri: str) -> tuple[SourceFile, ...]:
        """The files that the address means now, in the order of their names.

        Raises:
            SourceInvalid: it is no address, or means no file, or more than may be read at once.
            SourceNotAllowed: the operator has not allowed it.
            SourceChanged: a file was deleted at that moment.
            SourceDenied: the storage refuses the gateway.
            StorageDown: the storage does not answer.
        """
        parsed = self.checked(uri)
        try:
            found = _Search(self._access, self._bounds).files(parsed)
        except FileNotFoundError as error:
            raise SourceChanged(f"{uri} was changed while it was looked at. Nothing was accepted.") from error
        except OSError as error:
            raise in_gateway_terms(uri, error) from error
        if not found:
            raise SourceInvalid(f"There is no file {uri}.")
        return found

    def checked(self, uri: str) -> SourceUri:
        """The address, if it may be read.

        Raises:
            SourceInvalid: it is no address.
            SourceNotAllowed: the operator has not allowed it.
        """
        try:
            parsed = SourceUri.parse(uri)
        except ValueError as error:
            raise SourceInvalid(f"{uri!r} cannot be read: {error}.") from error
        self._access.check(parsed)
        return parsed


class _Search:
    """One look for the files of one address; counts what it sees."""

    def __init__(self, access: SourceAccess, bounds: SourceBounds) -> None:
        self._access = access
        self._bounds = bounds
        self._seen = 0
        self._byte_count = 0
        self._found: dict[str, SourceFile] = {}

    def files(self, uri: SourceUri) -> tuple[SourceFile, ...]:
        fixed = uri.fixed
        start = SourceUri(uri.scheme, uri.authority, fixed)
        rest = uri.segments[len(fixed) :]
        if rest and rest[-1] == _ANY_DEPTH:
            rest = (*rest, "*")
        if rest:
            self._look_in(start, rest)
        else:
            self._take_one(start)
        return tuple(self._found[each] for each in sorted(self._found))

    def _take_one(self, uri: SourceUri) -> None:
        found = entry(self._access, uri)
        if found is not None and found.is_folder:
            raise SourceInvalid(f"{uri} is a folder. Name the files in it, as {uri}/*.")
        if found is not None:
            self._take(uri, found)

    def _look_in(self, folder: SourceUri, segments: tuple[str, ...]) -> None:
        head, rest = segments[0], segments[1:]
        if head == _ANY_DEPTH:
            self._look_in(folder, rest)
            for each in self._folders(folder, "*"):
                # Links may lead around in circles.
                if not each.is_link and len(folder.segments) < _DEPTH_AT_MOST:
                    self._look_in(folder.child(each.name), segments)
        elif not rest:
            for each in self._entries(folder):
                if not each.is_folder and is_match(each.name, head):
                    self._take(folder.child(each.name), each)
        else:
            for each in self._folders(folder, head):
                self._look_in(folder.child(each.name), rest)

    def _folders(self, folder: SourceUri, segment: str) -> list[Entry]:
        return [each for each in self._entries(folder) if each.is_folder and is_match(each.name, segment)]

    def _entries(self, folder: SourceUri) -> Iterator[Entry]:
        self._access.check_real(folder)
        for each in entries(self._access, folder):
            self._seen += 1
            if self._seen > self._bounds.entries:
                raise SourceInvalid(
                    f"There are more than {self._bounds.entries} names to look at, twenty times what the "
                    "setting ingest_source_max_files allows. Name a folder further down."
                )
            yield each

    def _take(self, uri: SourceUri, found: Entry) -> None:
        self._access.check_real(uri)
        name = _address(uri)
        if name not in self._found:
            self._byte_count += found.byte_count
        version = tag(self._access, uri) if found.byte_count > self._bounds.untagged_bytes else ""
        self._found[name] = SourceFile(name, found.byte_count, found.modified_ns, version)
        if len(self._found) > self._bounds.files:
            raise SourceInvalid(
                f"These are more than {self._bounds.files} files: see the setting ingest_source_max_files."
            )
        if self._byte_count > self._bounds.byte_count:
            raise SourceInvalid(
                f"These are more than {self._bounds.byte_count} bytes: see the setting"
                " ingest_source_max_bytes."
            )


def _address(uri: SourceUri) -> str:
    """What executors are told to read; a name that is found may be one that no address can have.

    >>> _address(SourceUri("s3", "b", ("a [1].json",)))
    's3://b/a [1].json'
    """
    name = str(uri)
    try:
        SourceUri.parse(name)
    except ValueError as error:
        raise SourceInvalid(f"{name!r} cannot be read: {error}. Rename it, or name others.") from error
    return name
