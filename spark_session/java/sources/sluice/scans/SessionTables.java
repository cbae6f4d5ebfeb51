package sluice.scans;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.optional;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.StructField;
import scala.Option;

/** Describes the tables in Spark's own catalog, and how much scans of them read. */
public final class SessionTables {

    static final String CATALOG = "spark_catalog";

    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** Reading a table of another kind may mean asking another system. */
    private static final Set<String> FILE_PROVIDERS =
        Set.of("parquet", "orc", "csv", "json", "text", "avro", "hive");

    private final FileListings listings = new FileListings();

    /** Checks that the catalog answers. */
    public void check(SparkSession session) {
        session.sessionState().catalog().databaseExists("default");
    }

    /** Returns JSON: [[schema, table], …], all of them. */
    public String tables(SparkSession session) throws Exception {
        SessionCatalog catalog = session.sessionState().catalog();
        List<List<String>> found = new ArrayList<>();
        for (String schema : list(catalog.listDatabases())) {
            for (TableIdentifier table : list(catalog.listTables(schema, "*", false))) {
                found.add(List.of(schema, table.table()));
            }
        }
        return MAPPER.writeValueAsString(found);
    }

    /**
     * Returns the JSON that spark_session/engine/session_catalog_tables.py reads, or "null" if there is no such table. The
     * columns are current; files may be up to `keptMs` old. The values of their partitions are included if they are
     * listed now and there are at most `maxPartitions`.
     */
    public String table(SparkSession session, String schema, String name, long keptMs, int maxPartitions)
            throws Exception {
        CatalogTable table;
        try {
            table = session.sessionState().catalog()
                .getTableMetadata(new TableIdentifier(name, Option.apply(schema)));
        } catch (NoSuchTableException | NoSuchNamespaceException missing) {
            return "null";
        }
        PartitionValues values = new PartitionValues(maxPartitions);
        FileListing listing = isOfFiles(table) ? listings.of(session, table, keptMs, values) : null;
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("columns", columnsOf(table));
        told.put("partitionColumns", list(table.partitionColumnNames()));
        told.put("location", table.storage().locationUri().isEmpty() ? "" : table.location().toString());
        told.put("isTracked", table.tracksPartitionsInCatalog());
        told.put("createdAt", table.createTime());
        told.put("rows", rowsOf(table));
        told.put("listing", listing == null ? null : listing.row());
        told.put("partitionValues", values.found());
        return MAPPER.writeValueAsString(told);
    }

    /** Returns the names of the columns that the folders of a data set of files give it. */
    public String[] partitionColumns(Dataset<?> dataset) {
        HadoopFsRelation relation = FileListings.filesIn(dataset.queryExecution().analyzed());
        return relation == null ? new String[0] : relation.partitionSchema().fieldNames();
    }

    /**
     * Returns JSON, one row per scan of files, those that ran first; the columns are those of
     * spark_session/results/file_scans.py.
     */
    public String scans(SparkSession session, QueryExecution execution, long keptMs) throws Exception {
        FileScanRows rows = new FileScanRows(session, listings, keptMs);
        List<List<Object>> found = new ArrayList<>();
        for (PlannedScan planned : PlannedScans.of(execution)) {
            if (planned.plan() instanceof FileSourceScanExec scan && scan.tableIdentifier().isDefined()) {
                found.add(rows.of(scan, planned.node(), planned.hasRun()));
            }
        }
        return MAPPER.writeValueAsString(found);
    }

    /** Returns the rows of a table by its statistics; 0: unknown. */
    static long rowsOf(CatalogTable table) {
        return optional(table.stats())
            .flatMap(statistics -> optional(statistics.rowCount()))
            .map(count -> count.longValue())
            .orElse(0L);
    }

    private static boolean isOfFiles(CatalogTable table) {
        boolean isView = table.tableType().name().equals("VIEW");
        return !isView && table.provider().isDefined()
            && FILE_PROVIDERS.contains(table.provider().get().toLowerCase(Locale.ROOT));
    }

    private static List<List<Object>> columnsOf(CatalogTable table) {
        List<List<Object>> columns = new ArrayList<>();
        for (StructField field : table.schema().fields()) {
            String type = optional(CharVarcharUtils.getRawTypeString(field.metadata()))
                .orElseGet(() -> field.dataType().catalogString());
            String comment = optional(field.getComment()).orElse(null);
            columns.add(Arrays.asList(field.name(), type, field.nullable(), comment));
        }
        return columns;
    }
}
