"""Finds the principal that a client certificate names."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from api.bootstrap.settings.serving.tls import CertificateName
from service.errors.credential_errors import CertificateInvalid, CredentialFault
from service.model.authentication.principals import Principal, PrincipalKind, is_principal_name

_SAN = {CertificateName.DNS: "DNS", CertificateName.URI: "URI"}


def principal_of(
    certificate: Mapping[str, Any], kind: CertificateName, prefix: str, now: datetime
) -> Principal:
    """Returns the principal of a certificate that TLS has verified, in the form that `ssl` gives.

    TLS verifies it when a connection opens, and not when a session is resumed. So its end is checked here.

    Raises:
        CertificateInvalid: it has no name of this kind, or several, or it has expired.

    >>> certificate = {"subject": ((("commonName", "loader"),),)}
    >>> principal_of(certificate, CertificateName.CN, "certificate:", datetime.now()).name
    'certificate:loader'
    """
    expires = certificate.get("notAfter")
    if expires is not None and ssl.cert_time_to_seconds(expires) <= now.timestamp():
        raise CertificateInvalid("The client certificate has expired.", CredentialFault.EXPIRED)
    if kind is CertificateName.CN:
        names = [
            value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"
        ]
    else:
        names = [value for name, value in certificate.get("subjectAltName", ()) if name == _SAN[kind]]
    if len(names) != 1 or not names[0] or not is_principal_name(f"{prefix}{names[0]}"):
        raise CertificateInvalid(
            "The client certificate names no principal, or several.", CredentialFault.PRINCIPAL
        )
    claims = {"serialNumber": str(certificate.get("serialNumber", ""))}
    return Principal(f"{prefix}{names[0]}", PrincipalKind.CERTIFICATE, claims=claims)
