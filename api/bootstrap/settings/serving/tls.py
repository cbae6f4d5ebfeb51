"""TLS, and the certificates of clients."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, model_validator


class ClientCertificates(StrEnum):
    """Whether clients may or must show a certificate."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


class CertificateName(StrEnum):
    """Which name of a certificate is its principal: the subject's common name, or one in the SAN."""

    CN = "cn"
    DNS = "dns"
    URI = "uri"


class TlsSettings(BaseModel):
    """TLS, and the certificates of clients."""

    tls_certificate_file: Path | None = Field(
        None,
        description="PEM file with the server's certificate and the intermediate ones; read again when it"
        " changes. If it is set, only HTTPS is served",
    )
    tls_key_file: Path | None = Field(None, description="PEM file with its private key, without a password")
    tls_client_certificates: ClientCertificates = Field(
        ClientCertificates.NONE,
        description="none; optional: a client certificate is one way to authenticate; required: all requests"
        " except probes need one, also those with a token",
    )
    tls_client_ca_file: Path | None = Field(
        None, description="PEM file with the authorities of client certificates"
    )
    tls_principal: CertificateName = Field(
        CertificateName.CN, description="which name of a client certificate names the caller: cn, dns or uri"
    )
    tls_principal_prefix: str = Field("certificate:", max_length=64, description="prefix of that name")

    @property
    def has_tls(self) -> bool:
        """Whether HTTPS is served."""
        return self.tls_certificate_file is not None

    @model_validator(mode="after")
    def _tls_is_whole(self) -> Self:
        if (self.tls_certificate_file is None) != (self.tls_key_file is None):
            raise ValueError("tls_certificate_file and tls_key_file go together")
        asks = self.tls_client_certificates is not ClientCertificates.NONE
        if self.tls_client_ca_file and not asks:
            raise ValueError(
                "tls_client_ca_file has no effect: set tls_client_certificates to optional or required"
            )
        if asks and not (self.has_tls and self.tls_client_ca_file):
            raise ValueError(
                "tls_client_certificates needs tls_certificate_file, tls_key_file and tls_client_ca_file"
            )
        return self
