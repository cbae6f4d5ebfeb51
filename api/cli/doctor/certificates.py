"""Tries the files for TLS, and says how long they are valid."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

from api.cli.part_checks import Found, State
from api.http.tls.certificate_files import CertificateFiles, Validity
from service.errors.gateway_error import CannotStart

WARNED_WITHIN = timedelta(days=7)
WARNED_SHARE = 0.2
"""Certificates that are valid for a day are always in their last week. The alert has the same two bounds."""
_CURE = "Renew it: a gateway that runs reads new files by itself."


def certificates(files: CertificateFiles, now: datetime) -> Found:
    """Loads the files as the gateway does, and compares their dates with `now`.

    Raises:
        CannotStart: a file cannot be used.
    """
    context = files.context()
    try:
        validity = files.validity()
    except (OSError, ValueError) as error:
        raise CannotStart(f"{files.certificate} has no certificate that can be read.") from error
    text = f"The certificate is valid from {_day(validity.begins_at)} until {_day(validity.expires_at)}"
    if files.client_ca is not None:
        text += f"; clients may show one that {_authorities(context)} signed"
    if now < validity.begins_at:
        return Found(f"{text}. It is not valid yet.", State.FAILED, "Wait, or set this machine's clock.")
    if now >= validity.expires_at:
        return Found(f"{text}. It has expired.", State.FAILED, _CURE)
    if _is_near_its_end(validity, now):
        return Found(text, State.WARNING, _CURE)
    expired = _expired(context, now)
    if expired:
        cure = "Replace it in tls_client_ca_file: clients whose certificates it signed are refused."
        return Found(f"{text}. {expired} of them expired.", State.WARNING, cure)
    return Found(text)


def _is_near_its_end(validity: Validity, now: datetime) -> bool:
    left = validity.expires_at - now
    return left < min(WARNED_WITHIN, WARNED_SHARE * (validity.expires_at - validity.begins_at))


def _authorities(context: ssl.SSLContext) -> str:
    count = len(context.get_ca_certs())
    return f"{count} {'authority' if count == 1 else 'authorities'}"


def _expired(context: ssl.SSLContext, now: datetime) -> int:
    ends = (ssl.cert_time_to_seconds(str(cert["notAfter"])) for cert in context.get_ca_certs())
    return sum(datetime.fromtimestamp(end, UTC) <= now for end in ends)


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")
