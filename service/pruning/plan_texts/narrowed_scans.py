"""Which mentions of which tables were narrowed, and by which filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from sqlglot import exp

from service.model.filtering import FilterRecord
from service.pruning.at_snapshots import snapshot_of
from service.pruning.plan_texts.mentions import is_mention_of, mentions

# A plan is for people, and its size must not be the product of a hostile text's tables and filters.
MAX_FILTERS_A_SCAN = 20
# To lay texts of many mentions beside each other takes the square of their number.
MAX_COMPARED = 200

NarrowedScans = Mapping[int, tuple[FilterRecord, ...]]


def narrowed_scans(
    tree: exp.Query, rewritten: exp.Query | None, filters: Sequence[FilterRecord]
) -> NarrowedScans:
    """The applied filters of each mention that has any.

    Filters name tables, not mentions: of several mentions of one table those count that were wrapped in the
    rewritten text; all of them, when that text cannot be laid beside the first. There are more mentions in
    it where views were opened, and others where rows were in memory.
    """
    applied = [each for each in filters if each.is_applied]
    wrapped = _wrapped(mentions(tree), mentions(rewritten) if rewritten is not None else ())
    found = {
        number: tuple(
            each for each in applied if _is_on(each, mention, None if wrapped is None else wrapped[number])
        )
        for number, mention in enumerate(mentions(tree))
        if wrapped is None or number in wrapped
    }
    return {number: each[:MAX_FILTERS_A_SCAN] for number, each in found.items() if each}


def _is_on(record: FilterRecord, mention: exp.Table, wrapped: exp.Table | None) -> bool:
    """Whether the filter is one of this mention: several may be of one table at other snapshots."""
    snapshot_id = None if wrapped is None else snapshot_of(wrapped)
    is_at = snapshot_id in (None, record.probe.snapshot_id)
    return is_at and is_mention_of(mention, str(record.probe.table))


def _wrapped(before: Sequence[exp.Table], after: Sequence[exp.Table]) -> Mapping[int, exp.Table] | None:
    """The mentions that were wrapped, by their number, as they stand in the rewritten text."""
    same = _same(list(map(_written, before)), list(map(_written, after)))
    if same is None:
        return None
    pairs = {number: (before[number], after[other]) for number, other in same.items()}
    return {number: pair[1] for number, pair in pairs.items() if _is_wrapped(*pair)}


def _same(before: Sequence[str], after: Sequence[str]) -> Mapping[int, int] | None:
    """Where each mention of the first text stands in the second, if it does."""
    if before == after:
        return {number: number for number in range(len(before))}
    if not after or max(len(before), len(after)) > MAX_COMPARED:
        return None
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {each.a + step: each.b + step for each in blocks for step in range(each.size)}


def _written(table: exp.Table) -> str:
    """The name as it stands in the text, which a rewrite leaves as it is; of a view's text, the full one."""
    return ".".join(part.name for part in table.parts)


def _is_wrapped(before: exp.Table, after: exp.Table) -> bool:
    select = after.parent_select
    is_filtered = isinstance(select, exp.Select) and select.args.get("where") is not None
    return is_filtered and _depth(after) > _depth(before)


def _depth(table: exp.Table) -> int:
    depth, select = 0, table.parent_select
    while select is not None:
        depth, select = depth + 1, select.parent_select
    return depth
