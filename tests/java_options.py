"""The options of the JVMs that tests start. All of them are standard Java options."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.class_archive import ARCHIVE
from tests.soak import SOAK

VARIABLE = "JDK_JAVA_OPTIONS"
# Several JVMs share two cores, so none collects garbage with threads of its own.
LONG_LIVED = "-XX:+UseSerialGC"
# Most test JVMs live for about a minute. In that time, optimizing compilation would take two fifths of their
# CPU time. Without it, Java makes the code cache so small that generated code would soon be thrown out again.
SHORT_LIVED = f"{LONG_LIVED} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
# A soak runs for hours, so it keeps Java's defaults.
HAS_OPTIONS = VARIABLE in os.environ or SOAK is not None


def with_archive(options: str) -> str:
    """Adds the archive of Spark's classes, if it exists."""
    return f"{options} -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else options


@contextmanager
def long_lived_jvms() -> Iterator[None]:
    """Gives the JVMs that start in this context the options of those that serve hundreds of tests."""
    before = os.environ.get(VARIABLE, "")
    if not before.startswith(SHORT_LIVED):
        # The operator's own, or those of a soak.
        yield
        return
    os.environ[VARIABLE] = with_archive(LONG_LIVED)
    try:
        yield
    finally:
        os.environ[VARIABLE] = before
