"""Sentences for people: why a filter was applied or not, and how a verification ended."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from service.model.filters.filtering import Reason
from service.model.query.verification import Verification

SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.APPLIED: "The scan was narrowed by it.",
        Reason.DISABLED: "Dynamic filtering was switched off.",
        Reason.NOT_A_QUERY: "The text, or the part of it that reads this table, is no query that the gateway"
        " can see through.",
        Reason.TOO_COMPLEX: "The text is nested too deeply to be looked through, or that took longer than the"
        " gateway allows.",
        Reason.NO_EQUI_JOIN: "No equality that every row has to meet joins the table with another, or it is"
        " in a subquery, which nothing around narrows.",
        Reason.BUILD_HAS_NO_FILTER: "Nothing filters the side that keys would come from.",
        Reason.BUILD_NOT_DETERMINISTIC: "What gives keys may answer anew each time, is a closed view, or is"
        " chosen by a condition that cannot be asked by itself.",
        Reason.PROBE_NOT_PRUNABLE: "Files cannot be told apart by this column, or more rows are needed than"
        " those that the join asks for: by a limit, a sample, a total, a window, or another place that reads"
        " them.",
        Reason.PROBE_IS_PRESERVED_SIDE: "An outer join keeps all rows of this side, or fills in NULLs that"
        " `<=>` compares.",
        Reason.ANTI_JOIN: "Rows without a match are wanted.",
        Reason.KEY_IS_COMPUTED: "The key is an expression that cannot be seen through.",
        Reason.TYPE_NOT_CONVERTIBLE: "The two keys' types cannot be converted exactly.",
        Reason.NOT_SELECTIVE: "The keys match about everything there is.",
        Reason.NOT_WORTH_COLLECTING: "The scan is too small, or what keys would come from too large, for"
        " them to pay; or the query has enough filters already.",
        Reason.RANGES_ONLY: "Only a list narrows by this key, and there are too many values for one.",
        Reason.THRESHOLD_EXCEEDED: "There are more keys than may be kept.",
        Reason.COLLECT_TIMED_OUT: "The keys were not there in time.",
        Reason.COLLECT_FAILED: "Collecting the keys failed.",
        Reason.SNAPSHOT_MOVED: "A table changed while the keys were collected.",
        Reason.REWRITE_REJECTED: "The table cannot be replaced in this text, or the engine did not take the"
        " rewritten one; the query ran as it was sent.",
        Reason.SOURCE_NOT_SUPPORTED: "The table's source takes no dynamic filters, or it is empty, or behind"
        " a closed view.",
    }
)

VERIFICATIONS: Mapping[Verification, str] = MappingProxyType(
    {
        Verification.SAME: "The query gives the same rows as it is written.",
        Verification.DIFFERENT: "The query gives other rows as it is written.",
        Verification.NOT_COMPARABLE: "Two right answers of this query may differ: nothing is proven.",
        Verification.NOT_NARROWED: "The query ran as it is written: there was nothing to compare.",
    }
)
