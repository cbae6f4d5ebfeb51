"""Where streams may read."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import SourceAccess
from service.errors import SourceNotAllowed, StreamInvalid
from service.model.source_uris import FILE, SourceUri
from service.model.streams import DirectorySource, KafkaSource, StreamSource


class AllowedStreamSources:
    """Implements `service.stream_ports.StreamSources`."""

    def __init__(self, found: FoundSources, access: SourceAccess, kafka_servers: Sequence[str]) -> None:
        self._found = found
        self._access = access
        self._kafka_servers = frozenset(kafka_servers)

    def check(self, source: StreamSource) -> None:
        """Whether a stream may read there.

        Raises:
            SourceNotAllowed: it may not.
            SourceInvalid, StreamInvalid: it is no source for a stream.
        """
        match source:
            case DirectorySource(uri):
                folder = self._found.checked(uri)
                # Spark has braces as well.
                if folder.fixed != folder.segments or set(uri) & set("{}"):
                    raise StreamInvalid("A stream's directory has no globs; `glob` is for the names in it.")
                self._access.check_real(folder)
            case KafkaSource(servers):
                if not set(servers.split(",")) <= self._kafka_servers:
                    raise SourceNotAllowed(
                        f"Streams may not read from {servers} here: see the setting stream_kafka_servers."
                    )

    def check_files(self, uris: Sequence[str]) -> None:
        """Whether files of a folder are where their names say.

        Raises:
            SourceNotAllowed: one lies outside of what may be read.
        """
        for each in uris:
            if each.startswith(f"{FILE}:"):
                # Spark gives them with percent signs.
                path = unquote(each.removeprefix(f"{FILE}:")).lstrip("/")
                self._access.check_real(SourceUri(FILE, "", tuple(path.split("/"))))
