"""Checks columns of formats in which every record has all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.plan import ReadPlan

_MAX_REPORTED = 10


def check_names(names: Sequence[str]) -> None:
    """Checks that no column occurs twice.

    Raises:
        IngestInvalid: one does.
    """
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise IngestInvalid(f"There are two columns {twice!r:.100}.")


def check_columns(names: Iterable[str], plan: ReadPlan) -> None:
    """Checks that at least one target knows each column, or that it says where a record goes or what it does.

    Where a target takes the rest of its records, every column is known.

    Raises:
        IngestInvalid: some are not; or records delete by a key of which there is no column.
    """
    names = tuple(names)
    _check_keys(names, plan)
    if any(target.rest is not None for target in plan.targets):
        return
    known = {field.name for target in plan.targets for field in target.fields}
    known.update(*(target.unwritten for target in plan.targets))
    whens = [target.deletes.when for target in plan.targets if target.deletes is not None]
    known.update(when.field for when in whens if when is not None)
    if plan.route is not None:
        known.add(plan.route.field)
    unknown = [name for name in names if name not in known]
    if unknown:
        more = f" and {len(unknown) - _MAX_REPORTED} more" if len(unknown) > _MAX_REPORTED else ""
        reported = ", ".join(f"{name!r:.100}" for name in unknown[:_MAX_REPORTED])
        raise IngestInvalid(f"There is no column {reported}{more} in what is to be written.")


def _check_keys(names: Sequence[str], plan: ReadPlan) -> None:
    """Checks that the keys of deletes are there, and their order.

    Read as NULL, a key would delete the rows without one, and a delete would lose against every row that has
    an order.
    """
    if plan.route is not None:
        # It is unknown which target's records are there.
        return
    deletes = [target.deletes for target in plan.targets if target.deletes is not None]
    lacking = next((key for each in deletes for key in each.keys if key not in names), None)
    if lacking is not None:
        raise IngestInvalid(f"There is no column {lacking!r:.100}, which identifies the rows to delete.")
    orders = [each.order for each in deletes if each.order is not None]
    lacking = next((order for order in orders if order not in names), None)
    if lacking is not None:
        raise IngestInvalid(f"There is no column {lacking!r:.100}, which orders the rows to delete.")
