"""Digests of views: what they are defined as, with all views below them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from service.model.policies.read_plan import Parts, ReadView, lower
from spark_session.java.own_classes import java_instance
from spark_session.session.analysis_count import AnalysisCount

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class ViewText:
    """A view as it is now: all that gives it its rows, and a state that no two changes of it share."""

    text: str
    state: str


class ViewDefinitions:
    """Asks `ViewDefinitions.java` in the driver's JVM. `reads` counts the views that it was asked for."""

    def __init__(self, gateway: JavaGateway) -> None:
        self.reads = AnalysisCount()
        self._java = java_instance(gateway, "sluice.sessions.ViewDefinitions")

    def read(
        self, session: SparkSession, names: Collection[Parts], *, of_session: bool = False
    ) -> Mapping[Parts, ViewText | None]:
        """Returns views by name. None: there is no such view, or its catalog does not say when it changed.

        With `of_session`, also those of Spark's own catalog are returned, whose states are all the same.
        """
        asked = sorted(names)
        self.reads.add(len(asked))
        reported = json.loads(self._java.read(session._jsparkSession, json.dumps(asked), of_session))
        return {name: _view_text(found) for name, found in zip(asked, reported, strict=True)}


def definition_of(name: Parts, texts: Mapping[Parts, ViewText | None]) -> str | None:
    """Returns the digest of a view; `texts` has it and all views below it. None: one of them is not known."""
    named = sorted((lower(parts) == lower(name), lower(parts), text) for parts, text in _known(texts))
    if len(named) < len(texts):
        return None
    return sha256(json.dumps(named).encode()).hexdigest()


def is_made_from(view: ReadView, found: ViewText | None) -> bool:
    """Whether a plan may have been made from this text of a view. Only some plans have texts themselves."""
    return view.text is None or (found is not None and found.text == view.text)


def _known(texts: Mapping[Parts, ViewText | None]) -> list[tuple[Parts, str]]:
    return [(parts, found.text) for parts, found in texts.items() if found is not None]


def _view_text(found: dict[str, Any] | None) -> ViewText | None:
    if found is None or not found["state"]:
        return None
    return ViewText(json.dumps(found["text"]), found["state"])
