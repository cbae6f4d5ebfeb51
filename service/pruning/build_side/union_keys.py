"""The union of the keys of several build sides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain

from service.model.filters.filtering import Build
from service.pruning.build_side.build_query import BuildQuery


def union_keys(queries: Sequence[BuildQuery]) -> BuildQuery:
    """Returns one query for the keys of all these queries, which are of one type.

    A SELECT with several readers, each with its own keys, must yield the rows for all of them.
    """
    # The order of the readers must not change the query.
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
