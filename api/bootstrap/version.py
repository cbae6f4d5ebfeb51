"""The version of the gateway, and of its packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def version_of(package: str = "sluice-gateway") -> str:
    """Returns the version of an installed package; 0 if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "0"
