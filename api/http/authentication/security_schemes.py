"""Describes the ways to authenticate in the form of OpenAPI."""

from __future__ import annotations

from typing import Any

from api.bootstrap.settings import Settings
from api.bootstrap.settings.serving.tls import ClientCertificates

_TOKEN = {"type": "http", "scheme": "bearer", "description": "A token that the operator has set."}
_KEY = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "sluice_<id>_<secret>",
    "description": "An API key, sent as a bearer token.",
}
_CERTIFICATE = {"type": "mutualTLS", "description": "A client certificate of the operator's authorities."}


def security_schemes(settings: Settings) -> dict[str, Any]:
    """Returns the schemes that the operator has enabled, and always the one for tokens."""
    schemes: dict[str, Any] = {"bearer": _TOKEN}
    if settings.api_keys:
        schemes["apiKey"] = _KEY
    for name, issuer in settings.oidc_issuers.items():
        address = issuer.issuer.removesuffix("/") + "/.well-known/openid-configuration"
        schemes[_oidc(name)] = {"type": "openIdConnect", "openIdConnectUrl": address}
    if settings.tls_client_certificates is not ClientCertificates.NONE:
        schemes["clientCertificate"] = _CERTIFICATE
    return schemes


def security_of(settings: Settings) -> list[dict[str, list[str]]]:
    """Returns the alternatives for a request. It needs one of them, with all of its parts."""
    if not settings.has_authentication:
        # Anyone may ask. A request with a token is answered in the same way.
        return [{}, {"bearer": []}]
    named = ["bearer"] if settings.api_tokens else []
    named += ["apiKey"] if settings.api_keys else []
    named += [_oidc(name) for name in settings.oidc_issuers]
    match settings.tls_client_certificates:
        case ClientCertificates.REQUIRED:
            alone: dict[str, list[str]] = {"clientCertificate": []}
            return [alone, *({name: []} | alone for name in named)]
        case ClientCertificates.OPTIONAL:
            named.append("clientCertificate")
        case ClientCertificates.NONE:
            pass
    return [{name: []} for name in named]


def _oidc(name: str) -> str:
    return f"oidc-{name}"
