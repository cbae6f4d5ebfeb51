"""All measures, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from matplotlib.figure import Figure

from bench import (
    beside_heavy,
    cancel,
    clients,
    comet,
    compacted_logs,
    connect,
    dashboards,
    demo_query,
    file_cache,
    first_queries,
    flight_read,
    hive_columns,
    hive_jdbc,
    kept_rows,
    large_ingest,
    large_result,
    literal_predicate,
    long_poll,
    many_files,
    many_files_table,
    memory,
    memory_tables,
    merge_pruning,
    micro_batch,
    ndjson,
    one_collection,
    one_reading,
    one_round,
    policed_select_one,
    policed_star_queries,
    policy_decisions,
    pruning_step,
    read_table,
    request_rates,
    reused_result,
    select_one,
    small_ingests,
    star_cluster,
    star_commits,
    star_literals,
    star_queries,
    stock_spark,
    tpcds,
    tpcds_first,
    tpcds_lake,
    tracing_cost,
    trino,
    two_workers,
    unprunable_keys,
    unprunable_tables,
    upserts,
)
from bench.lakehouse import Lake
from bench.measurement import RESULTS, Measurement


def _nothing(_: Lake) -> None:
    """For measures that need only the demo's tables."""


def _tables_to_commit_to(lake: Lake) -> None:
    tpcds_lake.load(lake)
    star_commits.make_tables(lake)


@dataclass(frozen=True, slots=True)
class Measure:
    """How to take, draw and describe a measure.

    `prepare` makes the tables that it needs beyond the demo's, if they are missing. `is_by_name_only`: it
    needs what not every machine has, and is not taken where no measure is named.
    """

    about: str
    measure: Callable[[Lake], Measurement]
    draw: Callable[[Figure, Measurement], None]
    prepare: Callable[[Lake], None] = _nothing
    is_by_name_only: bool = False

    @property
    def title(self) -> str:
        """Its title, in one line."""
        return self.about.partition("\n")[0].rstrip(".")

    @property
    def method(self) -> str:
        """Describes what is measured, how, and against what."""
        return self.about.partition("\n")[2].strip()


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "select-1": Measure(select_one.__doc__ or "", select_one.measure, select_one.draw),
        "beside-heavy": Measure(beside_heavy.__doc__ or "", beside_heavy.measure, beside_heavy.draw),
        "reused-result": Measure(reused_result.__doc__ or "", reused_result.measure, reused_result.draw),
        "dashboards": Measure(
            dashboards.__doc__ or "", dashboards.measure, dashboards.draw, dashboards.make_tables
        ),
        "flight-read": Measure(flight_read.__doc__ or "", flight_read.measure, flight_read.draw),
        "large-result": Measure(large_result.__doc__ or "", large_result.measure, large_result.draw),
        "tracing": Measure(tracing_cost.__doc__ or "", tracing_cost.measure, tracing_cost.draw),
        "policy-decisions": Measure(
            policy_decisions.__doc__ or "", policy_decisions.measure, policy_decisions.draw
        ),
        "hive-columns": Measure(hive_columns.__doc__ or "", hive_columns.measure, hive_columns.draw),
        "hive-jdbc": Measure(
            hive_jdbc.__doc__ or "", hive_jdbc.measure, hive_jdbc.draw, read_table.make_table
        ),
        "connect": Measure(connect.__doc__ or "", connect.measure, connect.draw),
        "clients": Measure(clients.__doc__ or "", clients.measure, clients.draw),
        "requests": Measure(request_rates.__doc__ or "", request_rates.measure, request_rates.draw),
        "long-poll": Measure(long_poll.__doc__ or "", long_poll.measure, long_poll.draw),
        "cancel": Measure(cancel.__doc__ or "", cancel.measure, cancel.draw),
        "demo-query": Measure(demo_query.__doc__ or "", demo_query.measure, demo_query.draw),
        "memory": Measure(memory.__doc__ or "", memory.measure, memory.draw),
        "memory-tables": Measure(
            memory_tables.__doc__ or "", memory_tables.measure, memory_tables.draw, memory_tables.make_tables
        ),
        "star-queries": Measure(
            star_queries.__doc__ or "", star_queries.measure, star_queries.draw, tpcds_lake.load
        ),
        "stock-spark": Measure(
            stock_spark.__doc__ or "", stock_spark.measure, stock_spark.draw, tpcds_lake.load
        ),
        "trino": Measure(
            trino.__doc__ or "", trino.measure, trino.draw, trino.make_tables, is_by_name_only=True
        ),
        "star-literals": Measure(
            star_literals.__doc__ or "", star_literals.measure, star_literals.draw, tpcds_lake.load
        ),
        "star-commits": Measure(
            star_commits.__doc__ or "", star_commits.measure, star_commits.draw, _tables_to_commit_to
        ),
        "star-cluster": Measure(
            star_cluster.__doc__ or "", star_cluster.measure, star_cluster.draw, tpcds_lake.load
        ),
        "first-queries": Measure(
            first_queries.__doc__ or "", first_queries.measure, first_queries.draw, tpcds_lake.load
        ),
        "tpcds": Measure(tpcds.__doc__ or "", tpcds.measure, tpcds.draw, tpcds_lake.load),
        "tpcds-first": Measure(
            tpcds_first.__doc__ or "", tpcds_first.measure, tpcds_first.draw, tpcds_lake.load
        ),
        "comet": Measure(comet.__doc__ or "", comet.measure, comet.draw, tpcds_lake.load),
        "policed-select-1": Measure(
            policed_select_one.__doc__ or "", policed_select_one.measure, policed_select_one.draw
        ),
        "kept-rows": Measure(kept_rows.__doc__ or "", kept_rows.measure, kept_rows.draw, tpcds_lake.load),
        "file-cache": Measure(file_cache.__doc__ or "", file_cache.measure, file_cache.draw, tpcds_lake.load),
        "policed-star-queries": Measure(
            policed_star_queries.__doc__ or "",
            policed_star_queries.measure,
            policed_star_queries.draw,
            tpcds_lake.load,
        ),
        "unprunable-keys": Measure(
            unprunable_keys.__doc__ or "",
            unprunable_keys.measure,
            unprunable_keys.draw,
            unprunable_tables.make_tables,
        ),
        "many-files": Measure(
            many_files.__doc__ or "", many_files.measure, many_files.draw, many_files_table.make_tables
        ),
        "merge": Measure(merge_pruning.__doc__ or "", merge_pruning.measure, merge_pruning.draw),
        "upserts": Measure(upserts.__doc__ or "", upserts.measure, upserts.draw),
        "literal-predicate": Measure(
            literal_predicate.__doc__ or "",
            literal_predicate.measure,
            literal_predicate.draw,
            tpcds_lake.load,
        ),
        "one-collection": Measure(
            one_collection.__doc__ or "", one_collection.measure, one_collection.draw, tpcds_lake.load
        ),
        "one-reading": Measure(one_reading.__doc__ or "", one_reading.measure, one_reading.draw),
        "pruning-step": Measure(
            pruning_step.__doc__ or "", pruning_step.measure, pruning_step.draw, tpcds_lake.load
        ),
        "micro-batch": Measure(micro_batch.__doc__ or "", micro_batch.measure, micro_batch.draw),
        "large-ingest": Measure(large_ingest.__doc__ or "", large_ingest.measure, large_ingest.draw),
        "ndjson": Measure(ndjson.__doc__ or "", ndjson.measure, ndjson.draw),
        "two-workers": Measure(two_workers.__doc__ or "", two_workers.measure, two_workers.draw),
        "one-round": Measure(one_round.__doc__ or "", one_round.measure, one_round.draw),
        "compacted-logs": Measure(compacted_logs.__doc__ or "", compacted_logs.measure, compacted_logs.draw),
        "small-ingests": Measure(small_ingests.__doc__ or "", small_ingests.measure, small_ingests.draw),
    }
)


def save_picture(name: str, measurement: Measurement) -> None:
    """Draws the measurement into `bench/results/<name>.png`."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    figure.suptitle(MEASURES[name].title)
    MEASURES[name].draw(figure, measurement)
    figure.savefig(RESULTS / f"{name}.png", dpi=100, metadata={"Software": None})
