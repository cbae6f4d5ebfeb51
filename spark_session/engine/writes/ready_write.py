"""A statement that writes, checked and analyzed."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.policies.read_plan import ReadPlan
from service.model.query.planned_work import PlannedWork
from spark_session.session.write_statements import WritePlan


def unknown_work() -> PlannedWork:
    """Returns the work of a statement whose scans are planned only when it runs: it counts as much."""
    return PlannedWork(0, is_bounded=False)


def read_by(plan: ReadPlan) -> tuple[str, ...]:
    """Returns the full names of the tables that a plan reads, each once."""
    return tuple(dict.fromkeys(str(table.name) for table in plan.tables))


@dataclass(frozen=True, slots=True)
class ReadyWrite:
    """A plan that is left to run, its reads, and the policies that were applied to them."""

    plan: WritePlan
    work: PlannedWork
    reads: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
