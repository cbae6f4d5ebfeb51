"""Reads `/metrics` of a running gateway, strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.deploy.strict_exposition import families
from tests.integration.running import RunningGateway
from tests.polling import until

Numbers = Mapping[str, float]


def text_of(gateway: RunningGateway) -> str:
    """Returns the whole page."""
    return gateway.client.get("/metrics").raise_for_status().text


def numbers(gateway: RunningGateway) -> Numbers:
    """Returns each series by its name and label values."""
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in families(text_of(gateway))
        for sample in family.samples
    }


def numbers_when(gateway: RunningGateway, are_so: Callable[[Numbers], bool], within_s: float = 60) -> Numbers:
    """Returns the first metrics that fulfill the condition."""

    def found() -> Numbers | None:
        now = numbers(gateway)
        return now if are_so(now) else None

    numbers_then = until(found, within_s)
    assert numbers_then is not None
    return numbers_then
