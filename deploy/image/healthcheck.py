"""Whether the gateway of this container can answer queries: leaves with status 0 if `/readyz` says so."""

from __future__ import annotations

import os
import ssl
import sys
from http.client import HTTPException
from urllib.error import URLError
from urllib.request import urlopen


def main() -> int | str:
    """Returns 0 if the gateway is ready, else 1 or the reason."""
    try:
        return asked_as_configured()
    except (URLError, OSError, HTTPException) as failure:
        return f"not ready: {failure}"


def asked_as_configured() -> int:
    """Asks by HTTPS if the gateway serves that, whether the environment or the settings file says so."""
    if os.environ.get("SLUICE_TLS_CERTIFICATE_FILE"):
        return asked("https")
    try:
        return asked("http")
    except (ConnectionError, HTTPException):
        # Something listens and does not speak HTTP. Python alone cannot read the settings file: it is YAML.
        return asked("https")


def asked(scheme: str) -> int:
    """Returns 0 if `/readyz` has the status 200, else 1."""
    # This asks the same container, by an address that the certificate may lack.
    unverified = ssl._create_unverified_context() if scheme == "https" else None
    url = f"{scheme}://127.0.0.1:{os.environ.get('SLUICE_PORT', '8080')}/readyz"
    with urlopen(url, timeout=4, context=unverified) as answer:
        return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
