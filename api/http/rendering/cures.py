"""Cures for people: how a caller or an operator removes a reason for which a filter was not applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from service.model.filters.filter_record import Reason


@dataclass(frozen=True, slots=True)
class Cure:
    """A cure in words.

    `settings` are fields of `Settings` that bear on it, `page` is a page of the documentation below `docs`,
    with a heading. `is_about_layout`: the page of the pruned table helps to find a better layout.
    """

    says: str
    page: str
    settings: tuple[str, ...] = ()
    is_about_layout: bool = False


_PRUNED_SQL = "reference/pruned-sql.md"
_LAYOUT = "how-to/layout-advice.md#read-the-numbers"

CURES: Mapping[Reason, Cure] = MappingProxyType(
    {
        Reason.DISABLED: Cure(
            "Leave out `dynamicFiltering.enabled`, or send `true`. The operator can switch filters off for"
            " all queries.",
            f"{_PRUNED_SQL}#reasons",
            ("dynamic_filtering_enabled",),
        ),
        Reason.NOT_A_QUERY: Cure(
            "Write this part of the text in another way. The page lists the words and places that are not"
            " understood.",
            f"{_PRUNED_SQL}#text-that-runs-as-written",
        ),
        Reason.TOO_COMPLEX: Cure(
            "Nest the text less: use common table expressions. Or ask the operator for more time for the"
            " search.",
            f"{_PRUNED_SQL}#text-that-runs-as-written",
            ("dynamic_filtering_detection_timeout_s",),
        ),
        Reason.NO_EQUI_JOIN: Cure(
            "Join the table by an equality in `ON` or `WHERE` that holds for every row. If the table is in a"
            " subquery, join it there, or filter it there by a condition of its own.",
            f"{_PRUNED_SQL}#joins",
        ),
        Reason.BUILD_HAS_NO_FILTER: Cure(
            "Filter the joined table by a condition on its own columns, such as a year or a region. Without"
            " one, its keys match all files.",
            f"{_PRUNED_SQL}#conditions-on-the-build-side",
        ),
        Reason.BUILD_NOT_DETERMINISTIC: Cure(
            "Add a condition whose outcome is always the same, or replace `rand()`, `LIMIT` or `TABLESAMPLE`"
            " on this side by one.",
            f"{_PRUNED_SQL}#conditions-on-the-build-side",
        ),
        Reason.PROBE_NOT_PRUNABLE: Cure(
            "Partition or sort the table by this column, so that files differ in its values. If the query"
            " needs more rows than the join, join before the limit, the sample or the window.",
            f"{_PRUNED_SQL}#columns",
            is_about_layout=True,
        ),
        Reason.PROBE_IS_PRESERVED_SIDE: Cure(
            "If you do not need rows without a match, write an inner join, or a condition in `WHERE` that"
            " rejects `NULL` of the other side.",
            f"{_PRUNED_SQL}#joins",
        ),
        Reason.ANTI_JOIN: Cure(
            "No setting changes this: rows without a match may be in any file. A condition on the table"
            " itself leaves files out.",
            f"{_PRUNED_SQL}#joins",
        ),
        Reason.KEY_IS_COMPUTED: Cure(
            "Join by the column itself, or by a cast without loss. Compute on the other side of the equality,"
            " or store the value as a column.",
            f"{_PRUNED_SQL}#joins",
        ),
        Reason.TYPE_NOT_CONVERTIBLE: Cure(
            "Give both columns the same type, or cast the key of the build side to the type of this column.",
            f"{_PRUNED_SQL}#joins",
        ),
        Reason.NOT_SELECTIVE: Cure(
            "Filter the joined table more strictly. If few keys still match most files, sort the table by"
            " this column, and compact it.",
            _LAYOUT,
            is_about_layout=True,
        ),
        Reason.NOT_WORTH_COLLECTING: Cure(
            "Nothing has to be done: keys would cost more than they save. `dynamicFiltering.minTableBytes: 0`"
            " collects them for one query whatever they cost.",
            f"{_PRUNED_SQL}#reasons",
            ("dynamic_filtering_min_table_bytes", "dynamic_filtering_max_build_rows"),
        ),
        Reason.RANGES_ONLY: Cure(
            "Filter the joined table more strictly, so that fewer keys are left. Or ask the operator for"
            " longer lists.",
            f"{_PRUNED_SQL}#keys-of-several-columns",
            (
                "dynamic_filtering_max_in_list",
                "dynamic_filtering_max_listed_keys",
                "dynamic_filtering_max_tuple_alternatives",
                "dynamic_filtering_max_tuple_values",
            ),
        ),
        Reason.THRESHOLD_EXCEEDED: Cure(
            "Filter the joined table more strictly. Or ask the operator for larger filters.",
            f"{_PRUNED_SQL}#build-sides-that-are-large",
            ("dynamic_filtering_max_filter_bytes",),
        ),
        Reason.COLLECT_TIMED_OUT: Cure(
            "Run the query again: the collection goes on, and the keys are in the cache when it ends. Or ask"
            " the operator for a longer wait.",
            "operations/runbook.md#sluicefiltersfail",
            ("dynamic_filtering_collect_timeout_s", "dynamic_filtering_max_collection_s"),
        ),
        Reason.ARRIVED_TOO_LATE: Cure(
            "Run the query again: the keys are in the cache now. Or ask the operator for a longer wait.",
            "operations/runbook.md#sluicefiltersfail",
            ("dynamic_filtering_collect_timeout_s",),
        ),
        Reason.COLLECT_FAILED: Cure(
            "Run the query again. If it stays so, the operator finds the cause in the gateway's log.",
            "operations/runbook.md#sluicefiltersfail",
        ),
        Reason.SNAPSHOT_MOVED: Cure(
            "Run the query again: the next run reads the newer snapshot. Or read the table at a version.",
            f"{_PRUNED_SQL}#versions",
        ),
        Reason.REWRITE_REJECTED: Cure(
            "Give the table an alias without names for its columns, and write columns as `alias.column`."
            " Leave out metadata columns such as `_file`.",
            f"{_PRUNED_SQL}#text-that-runs-as-written",
        ),
        Reason.SOURCE_NOT_SUPPORTED: Cure(
            "Read the table from an Iceberg catalog, or from folders with partition columns. An empty table"
            " needs no filter.",
            f"{_PRUNED_SQL}#columns",
        ),
        Reason.SESSION_SETTING: Cure(
            "Remove the ANSI mode and the time zone from the session, or run the query without a session.",
            "how-to/sessions.md#settings-that-a-session-may-have",
        ),
        Reason.SESSION_VIEW: Cure(
            "Name tables with their catalog and schema. Give the view a name that the text has in no other"
            " place, or drop it.",
            "how-to/sessions.md#temporary-views",
        ),
    }
)
"""For each reason but `APPLIED`, which needs no cure."""


def variables_of(cure: Cure) -> tuple[str, ...]:
    """Returns the names of the cure's settings, as an operator writes them.

    >>> variables_of(CURES[Reason.DISABLED])
    ('SLUICE_DYNAMIC_FILTERING_ENABLED',)
    """
    return tuple(f"SLUICE_{name.upper()}" for name in cure.settings)
