"""Turns our settings into Spark's properties for the warm session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from spark_session.bounds.query_bounds import QueryBounds
from spark_session.resources import resource_path
from spark_session.settings.comet import PLUGINS, comet_properties
from spark_session.settings.parquet_tables import ParquetTable

MIB = 1024 * 1024
CATALOG_IMPLEMENTATION = "spark.sql.catalogImplementation"

# Spark as shipped runs code and opens files for anybody who may send SQL; these properties close some of
# these ways. `spark_session.session.guard` refuses the others. Some are here because rows would be wrong
# without them.
HARDENING: Mapping[str, str] = {
    "spark.sql.runSQLOnFiles": "false",  # SELECT … FROM text.`/etc/passwd`
    "spark.sql.variable.substitute": "false",  # SELECT '${env:SECRET}'
    # How texts are read, and moments written, here as well.
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    # If two common table expressions share a name, the inner one applies.
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    # Parameters are bound as literals of their type; Spark 4.1 would write them into the text instead.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # A metastore would compare partitions' values by its database's rules, and by their names (to it, `k=007`
    # is not 7): a filter in a query's text would then select other rows than the join does.
    "spark.sql.hive.metastorePartitionPruning": "false",
    # Iceberg 1.12 caches the equality deletes of a file with the types of that time. After a field was
    # widened, they equal no value of it: replaced rows are back, and a compaction makes that permanent.
    "spark.sql.iceberg.executor-cache.delete-files.enabled": "false",
    # Spark 4.1 makes a filter of EXCEPT over one table, and finds columns of its condition by their names:
    # where a column has the name of another one, rows are wrong, or the query fails.
    "spark.sql.optimizer.replaceExceptWithFilter": "false",
}

# With `spark.wap.branch`, a plain name reads another branch than the one whose snapshot it is pinned to.
OTHER_SNAPSHOTS = "spark.wap."

# Otherwise a document in a query makes `xpath(…)` open the files and addresses that it names. Entities within
# entities make a text of gigabytes of a short one; Java's own limits leave 50 million characters.
XML_STAYS_INSIDE = (
    "-Djavax.xml.accessExternalDTD= -Djavax.xml.accessExternalSchema= "
    "-Djdk.xml.entityExpansionLimit=1000 -Djdk.xml.totalEntitySizeLimit=1000000"
)
JAVA_OPTIONS = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")

# The JVM must have these before it starts; everything else, secrets too, travels over the gateway's socket
# and not on the command line, where every user of the machine could read it.
LAUNCH_PREFIXES = ("spark.driver.memory", "spark.driver.extra", "spark.jars", "spark.master", "spark.submit")

SOCKET_WITHIN_S = 60
"""How long the driver and PySpark wait for each other on the socket of a result."""

# Pools that start a new thread for each task until they are full. Every thread keeps the session of the query
# that it was started for, so an unbounded pool keeps a thousand dead sessions alive.
THREAD_BOUNDS = (
    "spark.sql.broadcastExchange.maxThreadThreshold",
    "spark.sql.resultQueryStage.maxThreadThreshold",
    "spark.sql.shuffleExchange.maxThreadThreshold",
)
PLANNING_THREADS = 32


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """Everything that a warm session needs; `catalogs` holds Spark's own `spark.sql.catalog.…` properties."""

    master: str
    jars: tuple[str, ...]
    log_dir: Path
    catalogs: Mapping[str, str] = field(default_factory=dict)
    catalog_names: tuple[str, ...] = ()
    default_catalog: str | None = None
    driver_memory: str = "2g"
    time_zone: str = "UTC"
    max_result_bytes: int = 1024 * MIB
    max_relation_bytes: int = 64 * MIB
    max_hash_relation_bytes: int = 0
    max_manifest_entry_bytes: int = 0
    max_tuple_bytes: int = 0
    """Memory for keys of several columns by which scans choose their files from these entries."""
    max_kept_plan_bytes: int = 0
    max_row_group_count_bytes: int = 0
    """Memory for the numbers of row groups that readers have selected; 0: they are not counted."""
    leaves_out_noted_files: bool = False
    """Whether scans that plan from memory leave out files of which their readers have selected nothing."""
    planned_once_max_bytes: int = 0
    """Queries that read at most so many bytes are planned without adaptive execution."""
    bounds: QueryBounds = field(default_factory=QueryBounds)
    properties: Mapping[str, str] = field(default_factory=dict)
    parquet_tables: Mapping[str, ParquetTable] = field(default_factory=dict)
    pools_file: Path = field(default_factory=partial(resource_path, "fairscheduler.xml"))
    """Names the scheduler's pools, as `spark_session.settings.scheduler_pools` writes them."""
    counts_cpu: bool = False
    """Whether the CPU time of each query's tasks is summed up."""
    takes_late_filters: bool = False
    """Whether filters that come while a query runs may leave out files of its scans."""
    comet_memory: str | None = None
    """Memory of each JVM with tasks beside its heap, as Spark spells it, for Comet; None: without Comet."""

    @property
    def has_session_tables(self) -> bool:
        """Whether Spark's own catalog has tables: declared folders, or a metastore's."""
        return bool(self.parquet_tables) or self.properties.get(CATALOG_IMPLEMENTATION) == "hive"


def spark_properties(settings: SparkSettings) -> dict[str, str]:
    """Returns every property of the session. Operators override our defaults, but not the hardening.

    >>> own = {"spark.ui.enabled": "true", "spark.sql.runSQLOnFiles": "true"}
    >>> settings = SparkSettings("local[2]", ("a.jar",), Path("logs"), properties=own)
    >>> properties = spark_properties(settings)
    >>> properties["spark.jars"], properties["spark.ui.enabled"], properties["spark.sql.runSQLOnFiles"]
    ('a.jar', 'true', 'false')
    """
    own = dict(settings.properties)
    given = _defaults(settings) | own | _of_comet(settings) | dict(settings.catalogs) | dict(HARDENING)
    hardened = {name: f"{given.get(name, '')} {XML_STAYS_INSIDE}".strip() for name in JAVA_OPTIONS}
    return given | hardened


def refusal_of(name: str, value: str) -> str | None:
    """Returns why the operator may not set this property; None if they may.

    >>> refusal_of("spark.sql.caseSensitive", "true")
    'spark.sql.caseSensitive has to stay false'
    >>> refusal_of("spark.sql.caseSensitive", "FALSE"), refusal_of("spark.ui.enabled", "true")
    (None, None)
    """
    if name.startswith(OTHER_SNAPSHOTS):
        return f"{name} cannot be given: a query names the branch that it reads"
    stays = HARDENING.get(name, value)
    return None if value.strip().casefold() == stays.casefold() else f"{name} has to stay {stays}"


def launch_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the properties that must be on the JVM's command line.

    >>> launch_properties({"spark.jars": "a.jar", "spark.sql.catalog.lake.jdbc.password": "secret"})
    {'spark.jars': 'a.jar'}
    """
    return {name: value for name, value in properties.items() if name.startswith(LAUNCH_PREFIXES)}


def _of_comet(settings: SparkSettings) -> dict[str, str]:
    """Returns Comet's properties, those that the operator has chosen as they are; empty without Comet."""
    if settings.comet_memory is None:
        return {}
    found = comet_properties(settings.comet_memory, settings.properties)
    return {**found, **settings.properties, PLUGINS: found[PLUGINS]}


def _defaults(settings: SparkSettings) -> dict[str, str]:
    defaults = {
        "spark.app.name": "sluice",
        "spark.master": settings.master,
        "spark.submit.deployMode": "client",
        "spark.driver.memory": settings.driver_memory,
        "spark.driver.maxResultSize": str(min(settings.max_result_bytes, heap_bytes(settings) // 4)),
        "spark.driver.extraJavaOptions": _java_options(settings.log_dir),
        "spark.scheduler.mode": "FAIR",
        "spark.scheduler.allocation.file": settings.pools_file.as_uri(),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.session.timeZone": settings.time_zone,
        # Spark's own pattern misses a REST catalog's `credential` and S3's `access-key`.
        "spark.redaction.regex": "(?i)secret|password|passwd|token|credential|access[.-]?key",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Up to this LIMIT, Spark keeps the first rows of an order in an array of that size.
        "spark.sql.execution.topKSortFallbackThreshold": "1000000",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        # The default refuses a struct with two fields of one name, which Spark itself can return.
        "spark.sql.execution.pandas.structHandlingMode": "row",
        # A query takes ten to fifty classes. With Spark's default of 100, the dozen queries of a dashboard
        # evict each other's classes, and every one is compiled and warmed up again; with 1,000, the hundred
        # texts of TPC-DS do. Classes lie outside the heap.
        "spark.sql.codegen.cache.maxEntries": "5000",
        # The gateway keeps its own records; Spark's history would only fill the driver's heap.
        "spark.sql.ui.retainedExecutions": "20",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "1000",
        # Nothing ends a task while it sorts and writes what it has in memory: up to 3 s after its query was
        # canceled, with 2 GB of heap. With earlier spills, large shuffles take a tenth longer, and large
        # sorts less.
        "spark.shuffle.spill.numElementsForceSpillThreshold": "4000000",
        # Spark's 15 s fail results on a machine that is busy for longer.
        "spark.python.authenticate.socketTimeout": f"{SOCKET_WITHIN_S}s",
    } | dict.fromkeys(THREAD_BOUNDS, str(PLANNING_THREADS))
    if settings.jars:
        defaults["spark.jars"] = ",".join(settings.jars)
    if is_local(settings.master):
        # 200 shuffle partitions are for clusters; on a few cores each one costs more than it carries.
        defaults["spark.sql.shuffle.partitions"] = "8"
        # Iceberg would split a scan into 16 MB tasks: for a table of small files, four files each and
        # hundreds in all.
        defaults["spark.sql.iceberg.read.adaptive-split-size.enabled"] = "false"
        # A stack overflow in a task, as in a regular expression, then fails only its query. Otherwise Spark
        # ends the JVM, which all queries share; a real lack of memory ends it by another option.
        defaults["spark.executor.killOnFatalError.depth"] = "0"
        # Without it, every user of this machine could talk to the driver.
        defaults["spark.authenticate"] = "true"
        defaults["spark.driver.host"] = "127.0.0.1"
        defaults["spark.driver.bindAddress"] = "127.0.0.1"
    else:
        # A task that does not end when it is killed keeps its slot for good: its executor is ended instead.
        # In local mode Spark only logs that; the engine's own watch takes over there.
        defaults |= {
            "spark.task.reaper.enabled": "true",
            "spark.task.reaper.killTimeout": "20s",
            "spark.task.reaper.threadDump": "false",
        }
    if settings.default_catalog is not None:
        defaults["spark.sql.defaultCatalog"] = settings.default_catalog
    return defaults


def is_local(master: str) -> bool:
    """Whether the driver's own JVM runs all tasks.

    >>> is_local("local[*]"), is_local("local-cluster[2,1,1024]"), is_local("k8s://https://host")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def heap_bytes(settings: SparkSettings) -> int:
    """Returns the driver's heap. It holds whole results for a moment, so each may take only a part of it.

    >>> heap_bytes(SparkSettings("local[2]", (), Path("logs"), driver_memory="2g")) == 2 * 1024 * MIB
    True
    """
    number, unit = settings.driver_memory[:-1], settings.driver_memory[-1].lower()
    kibibytes: int = 1024 ** "kmgt".index(unit)
    return int(number) * kibibytes * 1024


def _java_options(log_dir: Path) -> str:
    options = (
        "-XX:+ExitOnOutOfMemoryError",  # a new JVM is better than one without memory
        f'"-Dlog4j2.configurationFile={resource_path("log4j2.properties").as_uri()}"',
        f'"-Dsluice.log.dir={log_dir}"',
    )
    return " ".join(options)
