package sluice.scans;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogStatistics;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.util.AccumulatorV2;

/**
 * Describes the tables in Spark's own catalog, and how much scans of them read.
 *
 * Files are listed as Spark itself lists them for a query, by its own index of the table. A listing is cached for the
 * time that its caller allows. A listing with very young files is never cached and equals no other, because a store
 * may give their successors the same time.
 */
public final class SessionTables {
    private static final int LISTINGS_KEPT = 1024;
    /** A metastore lists partitions only; to list the files of more than these would cost more than it is worth. */
    private static final int LISTED_PARTITIONS = 1000;
    private static final long ASSUMED_PARTITION_BYTES = 1L << 20;
    private static final long YOUNG_MS = 2000L;
    private static final String CATALOG = "spark_catalog";
    /** Reading a table of another kind may mean asking another system. */
    private static final List FILE_PROVIDERS =
        Arrays.asList(new Object[] {"parquet", "orc", "csv", "json", "text", "avro", "hive"});

    private final Map listings = new LinkedHashMap(16, 0.75f, true) {
        protected boolean removeEldestEntry(Map.Entry eldest) {
            return size() > LISTINGS_KEPT;
        }
    };

    /** Checks that the catalog answers. */
    public void check(Object session) {
        ((SparkSession) session).sessionState().catalog().databaseExists("default");
    }

    /** Returns JSON: [[schema, table], …], all of them. */
    public String tables(Object session) throws Exception {
        SessionCatalog catalog = ((SparkSession) session).sessionState().catalog();
        List found = new ArrayList();
        scala.collection.Iterator schemas = catalog.listDatabases().iterator();
        while (schemas.hasNext()) {
            String schema = (String) schemas.next();
            scala.collection.Iterator tables = catalog.listTables(schema, "*", false).iterator();
            while (tables.hasNext()) {
                found.add(Arrays.asList(new Object[] {schema, ((TableIdentifier) tables.next()).table()}));
            }
        }
        return new ObjectMapper().writeValueAsString(found);
    }

    /**
     * Returns the JSON that spark_session/engine/session_tables.py reads, or "null" if there is no such table. The
     * columns are current; files may be up to `keptMs` old. The values of their partitions are included if they are
     * listed now and there are at most `maxPartitions`.
     */
    public String table(Object session, String schema, String name, long keptMs, int maxPartitions)
        throws Exception {
        SparkSession spark = (SparkSession) session;
        TableIdentifier identifier = identifier(schema, name);
        CatalogTable table;
        try {
            table = spark.sessionState().catalog().getTableMetadata(identifier);
        } catch (NoSuchTableException missing) {
            return "null";
        } catch (NoSuchNamespaceException missing) {
            return "null";
        }
        Map told = new LinkedHashMap();
        told.put("columns", columnsOf(table));
        told.put("partitionColumns", listed(table.partitionColumnNames()));
        told.put("location", table.storage().locationUri().isEmpty() ? "" : table.location().toString());
        told.put("isTracked", Boolean.valueOf(table.tracksPartitionsInCatalog()));
        told.put("createdAt", Long.valueOf(table.createTime()));
        told.put("rows", Long.valueOf(rowsOf(table)));
        PartitionValues values = new PartitionValues(maxPartitions);
        told.put("listing", isOfFiles(table) ? listing(spark, table, keptMs, values) : null);
        told.put("partitionValues", values.found());
        return new ObjectMapper().writeValueAsString(told);
    }

    /** Returns the names of the columns that the folders of a data set of files give it. */
    public String[] partitionColumns(Object dataset) {
        HadoopFsRelation relation = filesIn(((Dataset) dataset).queryExecution().analyzed());
        return relation == null ? new String[0] : relation.partitionSchema().fieldNames();
    }

    /**
     * Returns JSON, one row per scan of files, those that ran first; the columns are those of
     * spark_session/results/file_scans.py.
     */
    public String scans(Object session, Object queryExecution, long keptMs) throws Exception {
        List rows = new ArrayList();
        for (Iterator each = PlannedScans.of((QueryExecution) queryExecution).iterator(); each.hasNext();) {
            Object[] scan = (Object[]) each.next();
            if (scan[0] instanceof FileSourceScanExec && ((FileSourceScanExec) scan[0]).tableIdentifier().isDefined()) {
                rows.add(rowOf((SparkSession) session, (FileSourceScanExec) scan[0], scan[1], keptMs));
            }
        }
        return new ObjectMapper().writeValueAsString(rows);
    }

    private static boolean isOfFiles(CatalogTable table) {
        boolean isView = table.tableType().name().equals("VIEW");
        return !isView && table.provider().isDefined()
            && FILE_PROVIDERS.contains(((String) table.provider().get()).toLowerCase());
    }

    private static List columnsOf(CatalogTable table) {
        List columns = new ArrayList();
        StructField[] fields = table.schema().fields();
        for (int i = 0; i < fields.length; i++) {
            scala.Option raw = CharVarcharUtils.getRawTypeString(fields[i].metadata());
            String type = raw.isDefined() ? (String) raw.get() : fields[i].dataType().catalogString();
            scala.Option comment = fields[i].getComment();
            columns.add(Arrays.asList(new Object[] {
                fields[i].name(), type, Boolean.valueOf(fields[i].nullable()),
                comment.isDefined() ? comment.get() : null,
            }));
        }
        return columns;
    }

    private static long rowsOf(CatalogTable table) {
        if (table.stats().isEmpty()) {
            return 0;
        }
        scala.Option rows = ((CatalogStatistics) table.stats().get()).rowCount();
        return rows.isEmpty() ? 0 : ((scala.math.BigInt) rows.get()).longValue();
    }

    /** Returns partitions, files, bytes, and a name for this state of them; null if it is not a table of files. */
    private List listing(SparkSession spark, CatalogTable table, long keptMs, PartitionValues values)
        throws Exception {
        String key = table.identifier().toString() + table.createTime() + table.schema().json()
            + (table.storage().locationUri().isEmpty() ? "" : table.location().toString());
        long now = System.currentTimeMillis();
        Object[] known;
        synchronized (listings) {
            known = (Object[]) listings.get(key);
        }
        if (known != null && now - ((Long) known[0]).longValue() < keptMs) {
            return (List) known[1];
        }
        // A session of its own: the others remember what they listed last.
        SparkSession lister = (SparkSession) spark.newSession();
        String name = CATALOG + "." + quoted((String) table.identifier().database().get())
            + "." + quoted(table.identifier().table());
        HadoopFsRelation relation = filesIn(((Dataset) lister.table(name)).queryExecution().analyzed());
        List found = relation == null ? null : listed(lister, table, relation.location(), now, values);
        boolean isYoung = found != null && ((Boolean) found.get(4)).booleanValue();
        synchronized (listings) {
            if (isYoung) {
                listings.remove(key);
            } else {
                listings.put(key, new Object[] {Long.valueOf(now), found});
            }
        }
        return found;
    }

    private static List listed(
        SparkSession spark, CatalogTable table, FileIndex index, long now, PartitionValues values)
        throws Exception {
        if (index instanceof PartitioningAwareFileIndex) {
            values.take((PartitioningAwareFileIndex) index);
            return listed((PartitioningAwareFileIndex) index, now);
        }
        if (index instanceof CatalogFileIndex) {
            scala.collection.Seq names = spark.sessionState().catalog()
                .listPartitionNames(table.identifier(), scala.Option.apply(null));
            long partitions = names.size();
            if (partitions <= LISTED_PARTITIONS) {
                scala.collection.immutable.Seq all = (scala.collection.immutable.Seq) scala.collection.immutable.Nil$.MODULE$;
                PartitioningAwareFileIndex whole = ((CatalogFileIndex) index).filterPartitions(all);
                values.take(whole);
                return listed(whole, now);
            }
            values.take(names, table.partitionSchema());
            long bytes = table.stats().isEmpty()
                ? partitions * ASSUMED_PARTITION_BYTES
                : ((CatalogStatistics) table.stats().get()).sizeInBytes().longValue();
            return state(partitions, partitions, bytes, UUID.randomUUID().toString(), false);
        }
        return null;
    }

    private static List listed(PartitioningAwareFileIndex index, long now) throws Exception {
        List files = new ArrayList();
        long bytes = 0;
        long newest = 0;
        scala.collection.Iterator each = index.allFiles().iterator();
        while (each.hasNext()) {
            FileStatus file = (FileStatus) each.next();
            if (file.getLen() > 0) {
                bytes += file.getLen();
                newest = Math.max(newest, file.getModificationTime());
                files.add(file.getPath() + " " + file.getLen() + " " + file.getModificationTime());
            }
        }
        Collections.sort(files);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < files.size(); i++) {
            digest.update(((String) files.get(i)).getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
        }
        boolean isYoung = newest > now - YOUNG_MS;
        String state = isYoung ? UUID.randomUUID().toString() : new BigInteger(1, digest.digest()).toString(16);
        return state(partitionsOf(index, files.size()), files.size(), bytes, state, isYoung);
    }

    private static List state(long partitions, long files, long bytes, String state, boolean isYoung) {
        return Arrays.asList(new Object[] {
            Long.valueOf(partitions), Long.valueOf(files), Long.valueOf(bytes), state, Boolean.valueOf(isYoung),
        });
    }

    private static long partitionsOf(PartitioningAwareFileIndex index, long files) {
        boolean isPartitioned = index.partitionSchema().length() > 0;
        return isPartitioned ? list(index.partitionSpec().partitions()).size() : Math.min(1, files);
    }

    /** Returns the files that a plan of one named table reads; null if it reads something else. */
    private static HadoopFsRelation filesIn(LogicalPlan plan) {
        LogicalPlan node = plan;
        while (!(node instanceof LogicalRelation)) {
            if (list(node.children()).size() != 1 || !isNaming(node)) {
                return null;
            }
            node = (LogicalPlan) list(node.children()).get(0);
        }
        Object relation = ((LogicalRelation) node).relation();
        return relation instanceof HadoopFsRelation ? (HadoopFsRelation) relation : null;
    }

    private static boolean isNaming(LogicalPlan node) {
        return node.nodeName().equals("SubqueryAlias");
    }

    /**
     * Returns name, [partitions, files, bytes, rows] in all, [partitions, files, bytes] selected, rows read, time,
     * how.
     */
    private Object[] rowOf(SparkSession spark, FileSourceScanExec exec, Object hasRun, long keptMs)
        throws Exception {
        TableIdentifier identifier = (TableIdentifier) exec.tableIdentifier().get();
        long[] selected = selectedOf(exec);
        long[] total = totalOf(spark, exec, identifier, keptMs);
        for (int i = 0; i < selected.length; i++) {
            total[i] = Math.max(total[i], selected[i]);
        }
        long rows = metric(exec, "numOutputRows");
        total[3] = Math.max(total[3], rows);
        String name = identifier.database().get() + "." + identifier.table();
        return new Object[] {CATALOG + "." + name, total, selected,
            Long.valueOf(rows), Long.valueOf(metric(exec, "metadataTime")),
            hasRun, Boolean.valueOf(PlannedScans.isPrunedAtRuntime(exec.partitionFilters())),
            PlannedScans.columnsOf(exec.schema()), };
    }

    /** Returns what remained after Spark's own runtime pruning; for a scan that did not run, what the plan selects. */
    private static long[] selectedOf(FileSourceScanExec exec) {
        long files = metric(exec, "numFiles");
        boolean isPartitioned = exec.relation().partitionSchema().length() > 0;
        if (files > 0) {
            long partitions = isPartitioned ? metric(exec, "numPartitions") : 1;
            return new long[] {partitions, files, metric(exec, "filesSize")};
        }
        ScanFileListing planned = exec.selectedPartitions();
        files = planned.totalNumberOfFiles();
        long partitions = isPartitioned ? planned.partitionCount() : Math.min(1, files);
        return new long[] {partitions, files, planned.totalFileSize()};
    }

    private long[] totalOf(SparkSession spark, FileSourceScanExec exec, TableIdentifier identifier, long keptMs)
        throws Exception {
        CatalogTable table = spark.sessionState().catalog().getTableMetadata(identifier);
        FileIndex index = exec.relation().location();
        boolean isWhole = index instanceof PartitioningAwareFileIndex && !table.tracksPartitionsInCatalog();
        List found = isWhole
            ? listed((PartitioningAwareFileIndex) index, 0L)
            : listing(spark, table, keptMs, new PartitionValues(0));
        if (found == null) {
            return new long[] {0, 0, 0, 0};
        }
        return new long[] {
            ((Long) found.get(0)).longValue(), ((Long) found.get(1)).longValue(),
            ((Long) found.get(2)).longValue(), rowsOf(table),
        };
    }

    private static long metric(FileSourceScanExec exec, String name) {
        AccumulatorV2 found = (AccumulatorV2) map(exec.metrics()).get(name);
        return found == null ? 0 : ((Number) found.value()).longValue();
    }

    private static TableIdentifier identifier(String schema, String name) {
        return new TableIdentifier(name, scala.Option.apply(schema));
    }

    private static String quoted(String name) {
        return "`" + name.replace("`", "``") + "`";
    }

    private static List listed(scala.collection.Iterable names) {
        List found = new ArrayList();
        scala.collection.Iterator each = names.iterator();
        while (each.hasNext()) {
            found.add(each.next());
        }
        return found;
    }
}
