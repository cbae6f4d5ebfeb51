"""Whether the gateway of this container can answer queries: leaves with status 0 if `/readyz` says so."""

from __future__ import annotations

import os
import sys
from urllib.error import URLError
from urllib.request import urlopen

try:
    with urlopen(f"http://127.0.0.1:{os.environ.get('SLUICE_PORT', '8080')}/readyz", timeout=4) as answer:
        sys.exit(answer.status != 200)
except (URLError, OSError) as failure:
    sys.exit(f"not ready: {failure}")
