"""A bystander's observations, compared with the promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.drill.bystander import Answer


@dataclass(frozen=True, slots=True)
class Findings:
    """The slowest right answer, the total time of not being ready, and the longest such time, in seconds.

    `broken` has the questions that were not answered in time although the gateway reported that it was ready,
    and the probes that were not answered in time.
    """

    worst_s: float
    not_ready_s: float
    longest_s: float
    broken: Sequence[Answer]

    def line(self, name: str, alive_s: float, grown_mib: float) -> str:
        """Returns a line of the table."""
        numbers = (f"{self.worst_s:.2f}", f"{self.not_ready_s:.1f}", f"{self.longest_s:.1f}")
        verdict = "BROKEN" if self.broken else "held"
        return _row(name, *numbers, f"{alive_s:.2f}", f"{grown_mib:.0f}", verdict)


def _row(*cells: str) -> str:
    return "| " + cells[0].ljust(40) + " | " + " | ".join(cell.rjust(12) for cell in cells[1:]) + " |"


HEADER = "\n".join(
    (
        _row("input", "SELECT 1, s", "not ready, s", "to ready, s", "/healthz, s", "memory, MiB", "promise"),
        _row("---", *(["---:"] * 6)),
    )
)


def findings(answers: Sequence[Answer], probes: Sequence[Answer], allowed_s: float) -> Findings:
    """Judges all answers by the probes' periods from a NOT_READY to the next READY."""
    times = _times_not_ready(probes)

    def is_excused(answer: Answer) -> bool:
        until_s = answer.began_s + max(answer.took_s, allowed_s)
        return any(began_s <= until_s and answer.began_s <= ended_s for began_s, ended_s in times)

    late = [answer for answer in answers if answer.took_s > allowed_s or not answer.is_right]
    return Findings(
        worst_s=max(
            (answer.took_s for answer in answers if answer.is_right and answer not in late), default=0.0
        ),
        not_ready_s=sum(ended_s - began_s for began_s, ended_s in times),
        longest_s=max((ended_s - began_s for began_s, ended_s in times), default=0.0),
        broken=[
            *(answer for answer in late if not is_excused(answer)),
            *(probe for probe in probes if probe.took_s > allowed_s),
        ],
    )


def _times_not_ready(probes: Sequence[Answer]) -> list[tuple[float, float]]:
    times: list[tuple[float, float]] = []
    began_s: float | None = None
    for probe in probes:
        if not probe.is_right and began_s is None:
            began_s = probe.began_s
        if probe.is_right and began_s is not None:
            times.append((began_s, probe.ended_s))
            began_s = None
    if began_s is not None:
        times.append((began_s, probes[-1].ended_s))
    return times
