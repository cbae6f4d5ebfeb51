"""The keys of several build sides as those of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain

from service.model.filters.filtering import Build
from service.pruning.build_side.build_query import BuildQuery


def any_of(queries: Sequence[BuildQuery]) -> BuildQuery:
    """Collects the keys of each, which are of one type.

    That is what a SELECT has to give that several places read, each for keys of its own.
    """
    # However the places follow each other, it is the same set.
    distinct = {each.identity: each for each in queries}
    found = [distinct[identity] for identity in sorted(distinct)]
    if len(found) == 1:
        return found[0]
    builds = [each.build for each in found]
    columns = dict.fromkeys(", ".join(each.columns) for each in builds)
    predicates = dict.fromkeys(each.predicate for each in builds)
    sql = " UNION ALL ".join(f"({each.sql})" for each in found)
    return BuildQuery(
        sql=f"SELECT DISTINCT `k0` FROM ({sql}) AS `keys`",
        build=Build(
            tables=tuple(chain.from_iterable(each.tables for each in builds)),
            columns=(" or ".join(columns),),
            predicate=" OR ".join(f"({each})" for each in predicates),
            snapshot_ids=tuple(chain.from_iterable(each.snapshot_ids for each in builds)),
            is_union=True,
        ),
        parameter_names=frozenset().union(*(each.parameter_names for each in found)),
        identity=json.dumps(["any of", *(each.identity for each in found)]),
    )
