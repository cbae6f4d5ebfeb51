"""The union of the keys of several build sides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain

from service.model.filters.dynamic_filter import Build
from service.pruning.build_side.build_query import BuildQuery


def union_keys(queries: Sequence[BuildQuery]) -> BuildQuery:
    """Returns one query for the keys of all these queries, which are of one type.

    A SELECT with several readers, each with its own keys, must yield the rows for all of them.
    """
    # The order of the readers must not change the query.
    distinct = {query.identity: query for query in queries}
    found = [distinct[identity] for identity in sorted(distinct)]
    if len(found) == 1:
        return found[0]
    builds = [build_query.build for build_query in found]
    columns = dict.fromkeys(", ".join(build.columns) for build in builds)
    predicates = dict.fromkeys(build.predicate for build in builds)
    sql = " UNION ALL ".join(f"({build_query.sql})" for build_query in found)
    return BuildQuery(
        sql=f"SELECT DISTINCT `k0` FROM ({sql}) AS `keys`",
        build=Build(
            tables=tuple(chain.from_iterable(build.tables for build in builds)),
            columns=(" or ".join(columns),),
            predicate=" OR ".join(f"({predicate})" for predicate in predicates),
            snapshot_ids=tuple(chain.from_iterable(build.snapshot_ids for build in builds)),
            is_union=True,
            is_restricted=any(build.is_restricted for build in builds),
        ),
        parameter_names=frozenset().union(*(build_query.parameter_names for build_query in found)),
        identity=json.dumps(["any of", *(build_query.identity for build_query in found)]),
        series=json.dumps(["any of", *sorted(build_query.series for build_query in found)]),
    )
