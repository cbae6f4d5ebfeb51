"""Checks from where streams may read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase

from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import Entry, SourceAccess, entry
from service.errors.source_errors import (
    SourceChanged,
    SourceInvalid,
    SourceNotAllowed,
    StreamInvalid,
    StreamSourceDown,
)
from service.errors.unavailable import StorageDown
from service.model.ingest.ingest_request import WriteFault
from service.model.ingest.micro_batches import FoundFiles, UnfoundFile
from service.model.ingest.source_uris import SourceUri, address_of
from service.model.ingest.sources import SourceFile
from service.model.ingest.streams import DirectorySource, KafkaSource, StreamSource
from service.model.ingest.validation_schema import UnreadableFile

_OWN = "__"
# Its place in the caller's request.
_GLOB = "/source/glob"
_NO_ADDRESS = "Its name has characters that an address cannot have: rename it."
# Object stores are slow for each file.
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class AllowedTopics:
    """Allowed Kafka topics: on these servers, with these names; `*` matches any part."""

    servers: tuple[str, ...] = ()
    names: tuple[str, ...] = ("*",)

    def check(self, source: KafkaSource) -> None:
        """Checks that the topic may be read.

        Raises:
            SourceNotAllowed: it may not be read.
        """
        if not set(source.bootstrap_servers.split(",")) <= set(self.servers):
            raise SourceNotAllowed(
                f"Streams may not read from {source.bootstrap_servers} here: see the setting"
                " stream_kafka_servers."
            )
        # Kafka's own topics begin with this; they are allowed only if they are spelled out.
        names = [name for name in self.names if name.startswith(_OWN) or not source.topic.startswith(_OWN)]
        if not any(fnmatchcase(source.topic, name) for name in names):
            raise SourceNotAllowed(
                f"Streams may not read the topic {source.topic} here: see the setting stream_kafka_topics."
            )


class AllowedStreamSources:
    """Implements `service.ports.tables.stream_sources.StreamSources`."""

    def __init__(self, found: FoundSources, access: SourceAccess, topics: AllowedTopics) -> None:
        self._found = found
        self._access = access
        self._topics = topics

    def check(self, source: StreamSource) -> None:
        """Checks that a stream may read there.

        Raises:
            SourceNotAllowed: it may not.
            SourceInvalid, StreamInvalid: it cannot be a stream's source.
        """
        match source:
            case DirectorySource():
                folder = self._found.checked(source.uri)
                # Spark also supports braces.
                if folder.fixed != folder.segments or set(source.uri) & set("{}"):
                    raise StreamInvalid("A stream's directory has no globs; `glob` is for the names in it.")
                if "/" in (source.glob or ""):
                    reason = f"The glob {source.glob!r:.200} has a slash: it is for the names in the folder."
                    raise StreamInvalid(reason, [WriteFault(_GLOB, reason)])
                self._access.check_real(folder)
            case KafkaSource():
                self._topics.check(source)

    def files(self, uris: Sequence[str]) -> FoundFiles:
        """Returns exactly these files of a folder as they are now; missing ones are listed separately.

        A file is missing if it is gone, or if its name cannot be in an address.

        Raises:
            SourceNotAllowed: a file is outside of what may be read.
            StreamSourceDown: a file is gone, and so is the folder.
            StorageDown: the storage does not answer.
        """
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            reported = list(pool.map(self._file, map(address_of, uris)))
        return FoundFiles(
            tuple(file for file in reported if isinstance(file, SourceFile)),
            tuple(file for file in reported if isinstance(file, UnfoundFile)),
        )

    def _file(self, address: str) -> SourceFile | UnfoundFile:
        try:
            uri = self._found.checked(address)
        except SourceInvalid as invalid:
            # The address of its folder is valid, so the name is at fault.
            return UnfoundFile(UnreadableFile(address, _NO_ADDRESS), invalid)
        self._access.check_real(uri)
        found = self._entry(uri)
        if found is not None and not found.is_folder:
            return SourceFile(address, found.byte_count, found.modified_ns)
        folder = SourceUri(uri.scheme, uri.authority, uri.segments[:-1])
        if self._entry(folder) is None:
            # For example, the disk is not mounted: this says nothing about the file.
            raise StreamSourceDown(f"There is no folder {folder}. The stream continues as soon as it exists.")
        gone = f"{uri} no longer exists. Nothing was accepted: put it back, and resume the stream."
        return UnfoundFile(UnreadableFile(address, "It no longer exists."), SourceChanged(gone))

    def _entry(self, uri: SourceUri) -> Entry | None:
        try:
            return entry(self._access, uri)
        except OSError as error:
            raise StorageDown(f"The storage of {uri} does not answer.") from error
