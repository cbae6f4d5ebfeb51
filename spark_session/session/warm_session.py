"""A warm Spark session, and the child sessions that queries run in."""

from __future__ import annotations

import threading

import structlog
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from service.tracing import is_used
from spark_session.java.calls import Calls
from spark_session.java.jvm import Jvm, forget_lost_context, launch
from spark_session.java.own_classes import java_instance
from spark_session.results.column_lineage import ColumnLineageReader
from spark_session.results.planned_tables import PlannedTables
from spark_session.results.planned_work import PlannedWorkReader
from spark_session.results.result_writer import ResultWriter
from spark_session.results.row_collector import RowCollector
from spark_session.results.scan_metrics import ScanReader
from spark_session.results.session_table_reader import SessionTableReader
from spark_session.session.accumulator_server import log_faults
from spark_session.session.analyzed_facts import ReuseFacts
from spark_session.session.caches.file_cache import FileCache
from spark_session.session.caches.kept_plans import KeptPlans
from spark_session.session.caches.kept_rows import KeptRows
from spark_session.session.caches.manifest_entries import ManifestEntries
from spark_session.session.caches.row_group_counts import RowGroupCounts
from spark_session.session.catalog_contents import CatalogContents
from spark_session.session.catalog_watch import CatalogWatch
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.commands import CommandReader
from spark_session.session.cpu_times import CpuTimeReader
from spark_session.session.guard import Guard
from spark_session.session.job_spans import JobSpans
from spark_session.session.late_scans import LateScans
from spark_session.session.local_relation_store import LocalRelationStore
from spark_session.session.order_reader import OrderReader
from spark_session.session.parameter_types import ParameterTypes
from spark_session.session.python_workers import prepare_workers
from spark_session.session.row_delta_writer import RowDeltaWriter
from spark_session.session.small_queries import SmallQueries
from spark_session.session.state_functions import StateFunctions
from spark_session.session.table_guards import TableGuards
from spark_session.session.table_rewrites import Compaction, TableDeletes
from spark_session.session.trial_copies import JavaLayoutTrials
from spark_session.session.tuple_scans import TupleScans
from spark_session.session.vector_files import VectorFiles
from spark_session.session.view_reader import ViewReader
from spark_session.session.write_statements import SqlWrites
from spark_session.settings.settings import SparkSettings, spark_properties
from spark_session.settings.spark_version import check_spark_version

log = structlog.get_logger(__name__)

# Exercises parsing, planning, code generation, a shuffle and the Arrow transport.
WARM_UP_SQL = (
    "SELECT id % 10 AS k, count(*) AS n, sum(id) AS s FROM range(0, 10000, 1, 4) GROUP BY 1 ORDER BY 1"
)
WARM_UP_ROUNDS = 3
STOP_WITHIN_S = 4.0
DEATH_NOTICE_S = 2.0
JOBS_REPORTED_WITHIN_S = 1.0


class WarmSession:
    """One JVM with one Spark context; queries run in child sessions of it."""

    def __init__(self, jvm: Jvm, context: SparkContext, settings: SparkSettings) -> None:
        self.jvm = jvm
        self.context = context
        self.calls = Calls()
        self.guard = Guard(jvm.gateway, settings.bounds)
        self.guard.keep_functions()
        self.root = root = SparkSession(context)
        self.children = ChildSessions(root, jvm.gateway)
        self.catalogs = CatalogWatch(root, self.children, settings.catalog_names)
        self.tables = SessionTableReader(jvm.gateway, root, settings)
        self.planned_tables = PlannedTables(jvm.gateway)
        self.column_lineage = ColumnLineageReader(jvm.gateway)
        self.scan_reader = ScanReader(jvm.gateway, self.tables)
        self.rows = RowCollector(jvm.gateway)
        self.result_writer = ResultWriter(jvm.gateway)
        self.small_queries = SmallQueries(jvm.gateway, settings.planned_once_max_bytes)
        self.planned_work = PlannedWorkReader(jvm.gateway)
        self.cpu_times = CpuTimeReader(jvm.gateway, context) if settings.counts_cpu else None
        self.table_guards = TableGuards(jvm.gateway, settings.bounds.view_depth)
        self.sql_writes = SqlWrites(jvm.gateway)
        self.reuse_facts = ReuseFacts(jvm.gateway, self.table_guards.definitions)
        self.kept_rows = KeptRows(jvm.gateway, root, settings.max_hash_relation_bytes)
        self.file_cache = FileCache(jvm.gateway)
        self.manifest_entries = ManifestEntries(
            jvm.gateway, root, settings.max_manifest_entry_bytes, settings.max_tuple_bytes
        )
        self.tuple_sets = self.manifest_entries.tuple_sets
        self.tuple_scans = TupleScans(jvm.gateway, self.tuple_sets.java)
        self.late_scans = LateScans(jvm.gateway, root, self.children, settings.takes_late_filters)
        self.kept_plans = KeptPlans(jvm.gateway, settings.max_kept_plan_bytes)
        self.row_group_counts = RowGroupCounts(
            jvm.gateway, settings.max_row_group_count_bytes, settings.leaves_out_noted_files
        )
        self.relations = LocalRelationStore(
            jvm.gateway,
            self.children,
            self.rows,
            self.guard,
            self.table_guards,
            settings.max_relation_bytes,
            self.kept_rows.java,
        )
        self.orders = OrderReader(self.children, self.relations, self.rows)
        self.views = ViewReader(jvm.gateway, root, self.children, self.guard)
        self.contents = CatalogContents(jvm.gateway, root)
        self.commands = CommandReader(jvm.gateway)
        self.state_functions = StateFunctions(jvm.gateway)
        self.parameter_types = ParameterTypes(jvm.gateway)
        self.row_deltas = RowDeltaWriter(jvm.gateway, root)
        self.vectors = VectorFiles(jvm.gateway, self.children, self.relations)
        self.table_deletes = TableDeletes(jvm.gateway)
        self.compaction = Compaction(jvm.gateway)
        self.layout_trials = JavaLayoutTrials(jvm.gateway)
        self.jobs = JobSpans(jvm.gateway, context)
        self._reader_memory = java_instance(jvm.gateway, "sluice.engine.ReaderMemory")

    @classmethod
    def start(cls, settings: SparkSettings) -> WarmSession:
        """Launches a JVM and returns once a real query has run on it.

        Raises:
            CannotStart: the JVM did not come up.
        """
        properties = spark_properties(settings)
        jvm = launch(properties, settings.log_dir)
        try:
            conf = SparkConf(loadDefaults=False, _jvm=jvm.gateway.jvm).setAll(list(properties.items()))
            # Checked before anything runs: SPARK_HOME may lead to another Spark than PySpark's own.
            check_spark_version(jvm.spark_version())
            context = SparkContext(conf=conf, gateway=jvm.gateway)
            prepare_workers(context, properties)
            log_faults(context)
            session = cls(jvm, context, settings)
            session._warm_up()
        except BaseException:
            jvm.kill()
            raise
        return session

    def is_alive(self) -> bool:
        """Whether the JVM exists and is not known to be lost. Never waits: the operating system knows."""
        return not self.calls.is_lost and self.jvm.is_alive()

    def is_lost(self) -> bool:
        """Whether no call can succeed any more. Asks Spark; waits a moment for a JVM that is just ending.

        Its sockets break before the operating system reports its death: on a busy machine, by seconds.
        """
        if self.is_alive() and not self.is_stopped():
            return False
        self.jvm.is_dead_within(DEATH_NOTICE_S)
        return True

    def is_stopped(self) -> bool:
        """Whether Spark has given the context up (a cluster may do that while the JVM lives on)."""
        try:
            return bool(self.context._jsc.sc().isStopped())
        except (Py4JError, OSError, AttributeError):
            # The last: PySpark drops its Java context when it is stopped.
            return True

    def update_use(self) -> None:
        """Lets the use of the caches in the JVM be up to date; call it regularly."""
        try:
            self.kept_rows.update()
            self.file_cache.update()
            self.manifest_entries.update()
            self.tuple_sets.update()
            self.kept_plans.update()
            self.row_group_counts.update()
        except (Py4JError, OSError) as failure:
            log.info("engine_caches_not_counted", error=type(failure).__name__)

    def release_reader_memory(self) -> None:
        """Frees the memory that finished reads left in the driver; call it regularly.

        Only local mode reads files in the driver. Executors of a cluster end with their applications.
        """
        try:
            self._reader_memory.release()
        except (Py4JError, OSError) as failure:
            log.info("reader_memory_not_released", error=type(failure).__name__)

    def stop(self) -> None:
        """Stops Spark, then the JVM, even if it no longer answers, within some seconds."""
        self.jobs.close(JOBS_REPORTED_WITHIN_S)
        self.children.close()
        self.late_scans.close()
        self.catalogs.close()
        # In a thread: only its end can interrupt a call to a hanging JVM.
        stopping = threading.Thread(target=self._stop_context, name="spark-stop", daemon=True)
        stopping.start()
        stopping.join(STOP_WITHIN_S)
        if stopping.is_alive():
            log.warning("spark_stop_late", killed_after_s=STOP_WITHIN_S)
        self.jvm.kill()
        self.jvm.gateway.shutdown()
        forget_lost_context()

    def _stop_context(self) -> None:
        try:
            self.context.stop()
        except (Py4JError, OSError, AttributeError) as failure:
            # The last: PySpark drops its Java context when another thread forgets it.
            log.warning("spark_stop_failed", error=type(failure).__name__)

    def _warm_up(self) -> None:
        self.catalogs.start()
        self.children.start()
        self.tables.register()
        if is_used():
            self.jobs.start()
        for _ in range(WARM_UP_ROUNDS):
            with self.children.taken(None, None, "warm-up") as child:
                child.sql(WARM_UP_SQL).toArrow()
