"""Reads what an issuer says about itself."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from service.adapters.oidc.bounded_documents import fetch_document
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.errors.credential_errors import AuthenticationDown


def discovered(issuer: TrustedIssuer, timeout_s: float) -> Mapping[str, Any]:
    """Returns the issuer's discovery document.

    Raises:
        AuthenticationDown: the issuer does not answer, or the document is another issuer's.
    """
    address = issuer.url.removesuffix("/") + "/.well-known/openid-configuration"
    document = fetch_document(address, timeout_s, tls_of(issuer))
    if document.get("issuer") != issuer.url:
        raise AuthenticationDown("The document of the issuer is another one's.")
    return document


def tls_of(issuer: TrustedIssuer) -> ssl.SSLContext:
    """Returns what verifies the certificate of the issuer's server.

    Raises:
        AuthenticationDown: the file with the authorities cannot be read.
    """
    try:
        return ssl.create_default_context(cafile=issuer.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise AuthenticationDown("The file with the issuer's authorities cannot be read.") from error
