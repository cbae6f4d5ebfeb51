"""Whether the gateway of this container can answer queries: leaves with status 0 if `/readyz` says so."""

from __future__ import annotations

import os
import ssl
import sys
from urllib.error import URLError
from urllib.request import urlopen

try:
    scheme = "https" if os.environ.get("SLUICE_TLS_CERTIFICATE_FILE") else "http"
    # This asks the same container, by an address that the certificate may lack.
    unverified = ssl._create_unverified_context() if scheme == "https" else None
    url = f"{scheme}://127.0.0.1:{os.environ.get('SLUICE_PORT', '8080')}/readyz"
    with urlopen(url, timeout=4, context=unverified) as answer:
        sys.exit(answer.status != 200)
except (URLError, OSError) as failure:
    sys.exit(f"not ready: {failure}")
