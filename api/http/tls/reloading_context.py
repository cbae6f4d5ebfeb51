"""A TLS context that picks up new certificates without a restart."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from typing import Any

import structlog

from api.http.tls.certificate_files import CertificateFiles, Validity, Version
from service.errors.gateway_error import CannotStart

LOOKED_AT_EVERY_S = 1.0
_log = structlog.stdlib.get_logger("api.tls")


class ReloadingContext(ssl.SSLContext):
    """Gives each new connection a context with the current files. Open connections stay as they are.

    New files need a whole new context. An old context would still offer its certificate if the new one has
    another type of key, and authorities of clients cannot be removed from it. asyncio and uvloop call only
    `wrap_bio` of a context. Files that do not belong together change nothing: one of them may have been
    written before the other.
    """

    _files: CertificateFiles
    _version: Version | None
    _now_s: Callable[[], float]

    def __new__(cls, *_: Any, **__: Any) -> ReloadingContext:
        """Passes the protocol that `ssl.SSLContext` needs."""
        return super().__new__(cls, ssl.PROTOCOL_TLS_SERVER)

    def __init__(self, files: CertificateFiles, now_s: Callable[[], float] = time.monotonic) -> None:
        """Reads the files.

        Raises:
            CannotStart: they cannot be used.
        """
        self._files = files
        self._now_s = now_s
        # Read first: files that change after it are read again.
        self._version = _version_of(files)
        self._current = files.context()
        self._looked_s = now_s()
        self.failures = 0
        self.validity: Validity | None = None
        self._note_validity()

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        """Calls the same method of the current context."""
        if self._now_s() - self._looked_s >= LOOKED_AT_EVERY_S:
            self.look()
        return self._current.wrap_bio(*args, **kwargs)

    def look(self) -> None:
        """Reads the files again if they have changed."""
        self._looked_s = self._now_s()
        try:
            version = self._files.version()
        except OSError as error:
            self._complain(error.strerror or "unreadable")
            return
        if version == self._version:
            return
        # A failure is logged once for each change.
        self._version = version
        try:
            self._current = self._files.context()
        except CannotStart as error:
            self._complain(error.detail)
            return
        self._note_validity()
        expires_at = None if self.validity is None else self.validity.expires_at.isoformat()
        _log.info("tls_reloaded", expires_at=expires_at)

    def _complain(self, detail: str) -> None:
        self.failures += 1
        _log.error("tls_not_reloaded", detail=detail)

    def _note_validity(self) -> None:
        try:
            self.validity = self._files.validity()
        except (OSError, ValueError):
            self.validity = None


def _version_of(files: CertificateFiles) -> Version | None:
    try:
        return files.version()
    except OSError:
        return None
