"""The rules that look for candidates, in the order in which their candidates are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.model.filters.joins import Candidate
from service.pruning.candidates.computed_join import computed_join
from service.pruning.candidates.converted_join import converted_join
from service.pruning.candidates.inner_join import inner_join
from service.pruning.candidates.null_safe_join import null_safe_join
from service.pruning.candidates.outer_join import outer_join
from service.pruning.candidates.semi_join import semi_join
from service.pruning.join_graph.joined_select import JoinedSelect

Rule = Callable[[JoinedSelect], Iterator[Candidate]]
"""Yields the candidates of one kind of join; one that a rule rejects carries its reason."""

RULES: tuple[Rule, ...] = (
    inner_join,
    converted_join,
    null_safe_join,
    outer_join,
    semi_join,
    computed_join,
)
