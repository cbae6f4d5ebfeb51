"""Files that the JVM reads: logging and scheduling."""

from pathlib import Path


def resource_path(name: str) -> Path:
    """Returns where a file of this folder lies on disk (Spark needs paths, not streams)."""
    return Path(__file__).with_name(name)
