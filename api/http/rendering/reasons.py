"""Sentences for people: on reasons of filters, on sources of keys, and on how a verification ended."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.verification import Verification

SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.APPLIED: "The filter pruned the scan.",
        Reason.DISABLED: "Dynamic filtering was switched off.",
        Reason.NOT_A_QUERY: "The gateway does not understand the text, or the part of it that reads"
        " this table.",
        Reason.TOO_COMPLEX: "The text is nested too deeply to look for filters in it, or the search"
        " took longer than the gateway allows.",
        Reason.NO_EQUI_JOIN: "No equality that every row has to meet joins the table with another"
        " table. Or the table is in a subquery, and joins around a subquery do not prune it.",
        Reason.BUILD_HAS_NO_FILTER: "No condition filters the build side, which keys would come from.",
        Reason.BUILD_NOT_DETERMINISTIC: "The build side may give other rows each time, is an unexpanded view,"
        " or has a condition that cannot be evaluated on its own.",
        Reason.PROBE_NOT_PRUNABLE: "This column does not distinguish files. Or the query needs more rows than"
        " the join does: for a limit, a sample, a total, a window, or another place that reads them.",
        Reason.PROBE_IS_PRESERVED_SIDE: "An outer join keeps all rows of this side, or adds NULLs that"
        " `<=>` compares.",
        Reason.ANTI_JOIN: "The join asks for rows without a match.",
        Reason.KEY_IS_COMPUTED: "The key is an expression that the gateway does not understand.",
        Reason.TYPE_NOT_CONVERTIBLE: "The two keys' types cannot be converted exactly.",
        Reason.NOT_SELECTIVE: "The keys leave out too little: they match nearly all values of the column.",
        Reason.NOT_WORTH_COLLECTING: "The scan is too small, or the build side too large, to be worth"
        " collecting keys. Or the query has enough filters already.",
        Reason.RANGES_ONLY: "Only a list of values prunes by this key, and there are too many values for"
        " a list.",
        Reason.THRESHOLD_EXCEEDED: "There are more keys than the gateway accepts for one filter.",
        Reason.COLLECT_TIMED_OUT: "The keys were not collected in time.",
        Reason.COLLECT_FAILED: "Collecting the keys failed.",
        Reason.ARRIVED_TOO_LATE: "The keys came after the scan had begun.",
        Reason.SNAPSHOT_MOVED: "A table changed while the keys were collected.",
        Reason.REWRITE_REJECTED: "The table reference cannot be replaced in this text, or the engine rejected"
        " the rewritten text. The query ran as written.",
        Reason.SOURCE_NOT_SUPPORTED: "The table's source does not support dynamic filters, or the table is"
        " empty, or behind an unexpanded view.",
        Reason.SESSION_SETTING: "The session has another ANSI mode or time zone than the gateway. The query"
        " ran as written.",
        Reason.SESSION_VIEW: "The text may name a temporary view of the session. The query ran as written.",
    }
)

SOURCES: Mapping[FilterSource, str] = MappingProxyType(
    {
        FilterSource.COLLECTED: "collected from the build side",
        FilterSource.CACHED: "from the cache",
        FilterSource.CARRIED_OVER: "carried over from an earlier snapshot, with the keys of files added"
        " since",
        FilterSource.CONTAINED: "contained in a cached set with wider conditions",
        FilterSource.ARRIVED_LATE: "collected while the query ran",
        FilterSource.NONE: "not collected",
    }
)

VERIFICATIONS: Mapping[Verification, str] = MappingProxyType(
    {
        Verification.SAME: "The query as written gives the same rows.",
        Verification.DIFFERENT: "The query as written gives other rows.",
        Verification.NOT_COMPARABLE: "Two correct results of this query may differ, so the comparison"
        " proves nothing.",
        Verification.NOT_PRUNED: "The query ran as written, so there was nothing to compare.",
    }
)
