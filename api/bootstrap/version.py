"""Which version of the gateway this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def version_of(package: str = "sluice-gateway") -> str:
    """The version of an installed package; 0 where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "0"
