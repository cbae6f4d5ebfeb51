"""Files that the JVM reads: logging, scheduling, and our Java classes."""

from pathlib import Path


def resource_path(name: str) -> Path:
    """Returns where a file of this folder lies on disk (Spark needs paths, not streams)."""
    return Path(__file__).with_name(name)
