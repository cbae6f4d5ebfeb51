"""Reads the files for TLS, and detects that they have changed."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography import x509

from service.errors.gateway_error import CannotStart

Version = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Validity:
    """The time in which a certificate is valid."""

    begins_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The server's certificate and key, and the authorities of clients. None: clients need no certificate."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def version(self) -> Version:
        """Returns a value that differs once a file has changed, also behind a link, as in a mounted Secret.

        Raises:
            OSError: a file does not exist, or cannot be reached.
        """
        return tuple(self._marks())

    def context(self) -> ssl.SSLContext:
        """Returns a server's context with the current contents of the files.

        Clients without a certificate may connect: probes have none, and others get an HTTP error.

        Raises:
            CannotStart: a file cannot be read, or the key does not belong to the certificate.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ValueError) as error:
            raise CannotStart(
                f"{self.certificate} and {self.key} are not a certificate and its key ({_words(error)}):"
                " check tls_certificate_file and tls_key_file."
            ) from None
        if self.client_ca is not None:
            _verify_clients(context, self.client_ca)
        return context

    def validity(self) -> Validity:
        """Returns when the server's certificate begins to be valid, and when it expires.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not a certificate.
        """
        found = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        return Validity(found.not_valid_before_utc.astimezone(UTC), found.not_valid_after_utc.astimezone(UTC))

    def _marks(self) -> Iterator[tuple[int, int, int]]:
        for path in (self.certificate, self.key, self.client_ca):
            if path is not None:
                found = path.stat()
                yield found.st_mtime_ns, found.st_ino, found.st_size


def _verify_clients(context: ssl.SSLContext, authorities: Path) -> None:
    try:
        context.load_verify_locations(authorities)
    except (OSError, ValueError) as error:
        raise CannotStart(
            f"{authorities} has no certificates of authorities ({_words(error)}): check tls_client_ca_file."
        ) from None
    context.verify_mode = ssl.CERT_OPTIONAL


def _no_password(*_: Any) -> str:
    # Without a callback, OpenSSL asks for the password on the terminal.
    raise ValueError("the key has a password")


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error)
