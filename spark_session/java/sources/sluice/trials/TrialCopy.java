package sluice.trials;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.NullOrder;
import org.apache.iceberg.ReplaceSortOrder;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Term;
import org.apache.iceberg.spark.actions.RewriteDataFilesSparkAction;
import org.apache.iceberg.spark.actions.SparkActions;
import org.apache.spark.sql.SparkSession;

/**
 * A copy of a table that shares its data files until it is rewritten, and that no catalog knows.
 *
 * <p>Its changes are those of the statements that advice has, by the calls that Iceberg makes of them.
 */
public final class TrialCopy {

    private static final Map<String, String> ALL = Map.of("rewrite-all", "true");

    private final SparkSession session;
    private final Table table;

    TrialCopy(SparkSession session, TableOperations source, String folder, long snapshotId) {
        this.session = session;
        TableMetadata begun = begun(source.current(), folder, snapshotId);
        this.table = new BaseTable(new UnlistedOperations(source, begun), "sluice trial");
    }

    static TableMetadata begun(TableMetadata source, String folder, long snapshotId) {
        Set<String> moving = source.properties().keySet().stream()
            .filter(TrialCopy::isOfPlaces)
            .collect(Collectors.toSet());
        TableMetadata.Builder builder = TableMetadata.buildFrom(source)
            .assignUUID(UUID.randomUUID().toString())
            .setLocation(folder)
            .removeProperties(moving)
            // Its data files are those of another table: nothing may delete them.
            .setProperties(Map.of(TableProperties.GC_ENABLED, "false"));
        source.refs().keySet().forEach(builder::removeRef);
        return builder
            .setBranchSnapshot(snapshotId, SnapshotRef.MAIN_BRANCH)
            .discardChanges()
            .build();
    }

    private static boolean isOfPlaces(String property) {
        return Set.of(
                TableProperties.WRITE_DATA_LOCATION,
                TableProperties.WRITE_METADATA_LOCATION,
                TableProperties.WRITE_LOCATION_PROVIDER_IMPL,
                "write.object-storage.path",
                "write.folder-storage.path")
            .contains(property);
    }

    /** Sorts all files by these columns. */
    public void sort(List<String> columns, long fileBytes) {
        SortOrder.Builder order = SortOrder.builderFor(table.schema());
        ReplaceSortOrder later = table.replaceSortOrder();
        for (String column : columns) {
            order.asc(column, NullOrder.NULLS_FIRST);
            later.asc(column, NullOrder.NULLS_FIRST);
        }
        later.commit();
        set(TableProperties.WRITE_DISTRIBUTION_MODE, TableProperties.WRITE_DISTRIBUTION_MODE_RANGE);
        target(fileBytes);
        rewrite(sized(fileBytes), order.build());
    }

    /** Adds a partition field, and rewrites all files by it. */
    public void partition(String column, String transform) {
        table.updateSpec().addField(term(column, transform)).commit();
        rewrite(ALL, null);
    }

    /** Rewrites all files to this size. */
    public void resize(long fileBytes) {
        target(fileBytes);
        rewrite(sized(fileBytes), null);
    }

    /** Puts small files together. */
    public void compact() {
        rewrite(Map.of(), null);
    }

    /** Returns a line for each of these scans, with the files and the bytes that it selects now. */
    public String reads(String scans) throws IOException {
        return new SelectedFiles(table).ofAll(scans);
    }

    private void rewrite(Map<String, String> options, SortOrder order) {
        RewriteDataFilesSparkAction action = SparkActions.get(session).rewriteDataFiles(table);
        action.options(options);
        if (order != null) {
            action.sort(order);
        }
        action.execute();
        table.refresh();
    }

    private void target(long fileBytes) {
        set(TableProperties.WRITE_TARGET_FILE_SIZE_BYTES, Long.toString(fileBytes));
    }

    private void set(String property, String value) {
        table.updateProperties().set(property, value).commit();
    }

    private static Map<String, String> sized(long fileBytes) {
        return Map.of("rewrite-all", "true", "target-file-size-bytes", Long.toString(fileBytes));
    }

    private static Term term(String column, String transform) {
        return switch (transform) {
            case "identity" -> Expressions.ref(column);
            case "day" -> Expressions.day(column);
            case "month" -> Expressions.month(column);
            case "year" -> Expressions.year(column);
            default -> throw new IllegalArgumentException("No transform of advice: " + transform);
        };
    }
}
