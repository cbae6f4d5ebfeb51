"""Views of catalogs that a session has made, which it may drop by a name without a schema."""

from __future__ import annotations

from hashlib import sha256

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from service.model.sessions.sessions import MadeView, SessionValues
from spark_session.session.warm_session import WarmSession


def made_view(session: WarmSession, child: SparkSession, name: tuple[str, ...]) -> MadeView | None:
    """Returns a view that was made just now. None: nothing says what it is, so it cannot be known again."""
    try:
        return _now(session, child, name)
    except (PySparkException, Py4JError, OSError):
        return None


def is_as_made(
    session: WarmSession, child: SparkSession, name: tuple[str, ...], values: SessionValues
) -> bool:
    """Whether a session has made the view of this name, and nobody has replaced or changed it since.

    Raises:
        Py4JJavaError: the catalog cannot say what the view is now.
    """
    return any(made.name == name for made in values.made) and _now(session, child, name) in values.made


def _now(session: WarmSession, child: SparkSession, name: tuple[str, ...]) -> MadeView | None:
    found = session.table_guards.definitions.read(child, [name])[name]
    # The state is a place of files, which is not kept.
    return None if found is None else MadeView(name, sha256(found.state.encode()).hexdigest())
