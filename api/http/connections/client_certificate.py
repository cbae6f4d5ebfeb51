"""Names the place of a client's certificate in the scope of its requests."""

from __future__ import annotations

EXTENSION = "sluice.client_certificate"
"""The extension of the ASGI scope that holds it, in the form of `ssl`."""
