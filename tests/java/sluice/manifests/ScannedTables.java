package sluice.manifests;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.metrics.ScanMetricsResult;
import org.apache.iceberg.metrics.ScanReport;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;

/** Tables of many commits, whose data files are metadata alone, and what scans of them plan. */
final class ScannedTables {

    private static final int KEY = 1;
    private static final int VALUE = 2;
    private static final int NAME = 4;
    private static final Schema SCHEMA = new Schema(
        NestedField.optional(KEY, "k", Types.IntegerType.get()),
        NestedField.optional(VALUE, "v", Types.LongType.get()),
        NestedField.optional(3, "day", Types.DateType.get()),
        NestedField.optional(NAME, "name", Types.StringType.get()));

    private ScannedTables() {}

    /** Returns a new table, partitioned by `k`, in a version of the format. */
    static Table table(int version) {
        return table(catalog(), version);
    }

    static InMemoryCatalog catalog() {
        InMemoryCatalog catalog = new InMemoryCatalog();
        catalog.initialize("lake", Map.of());
        catalog.createNamespace(Namespace.of("shop"));
        return catalog;
    }

    static Table table(InMemoryCatalog catalog, int version) {
        PartitionSpec spec = PartitionSpec.builderFor(SCHEMA).identity("k").build();
        Map<String, String> properties = Map.of("format-version", String.valueOf(version));
        return catalog.buildTable(TableIdentifier.of("shop", "item"), SCHEMA)
            .withPartitionSpec(spec)
            .withProperties(properties)
            .withLocation("memory://shop/item")
            .create();
    }

    static CachedTable cached(Table table, ManifestCache cache) {
        return CachedTable.of(table, cache, List.of());
    }

    /** Commits files, removes some, or changes the partition spec or the manifests. */
    static void commit(Table table, Random chosen, int round) {
        if (round > 0 && round % 7 == 0) {
            String old = (round - 1 - chosen.nextInt(6)) + "-a";
            table.newDelete().deleteFile(table.location() + "/data/" + old).commit();
        } else if (round == 20) {
            table.updateSpec().addField("day").commit();
        } else if (round == 40) {
            table.updateSpec().removeField("k").addField(Expressions.bucket("v", 4)).commit();
        } else if (round % 11 == 10) {
            table.rewriteManifests().clusterBy(file -> file.recordCount() % 3).commit();
        }
        table.newFastAppend()
            .appendFile(file(table, chosen, round + "-a"))
            .appendFile(file(table, chosen, round + "-b"))
            .commit();
    }

    /** Returns a file in this partition, of a table that has one spec. */
    static DataFile file(Table table, String partition, String name) {
        return DataFiles.builder(table.spec())
            .withPath(table.location() + "/data/" + name)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(100)
            .withPartitionPath(partition)
            .withRecordCount(10)
            .build();
    }

    static DataFile file(Table table, Random chosen, String name) {
        long low = chosen.nextInt(40) - 20;
        return file(table, chosen, name, low, low + chosen.nextInt(5));
    }

    /** Returns a file in any partition, whose values of `v` are in these bounds. Some have no bounds. */
    static DataFile file(Table table, Random chosen, String name, long low, long high) {
        Map<Integer, Long> values = new HashMap<>();
        Map<Integer, Long> nulls = new HashMap<>();
        Map<Integer, ByteBuffer> lower = new HashMap<>();
        Map<Integer, ByteBuffer> upper = new HashMap<>();
        long rows = chosen.nextInt(20) == 0 ? 0 : 1 + chosen.nextInt(50);
        values.put(VALUE, rows);
        nulls.put(VALUE, 0L);
        lower.put(VALUE, Conversions.toByteBuffer(Types.LongType.get(), low));
        upper.put(VALUE, Conversions.toByteBuffer(Types.LongType.get(), high));
        if (chosen.nextBoolean()) {
            String letter = String.valueOf((char) ('a' + chosen.nextInt(4)));
            lower.put(NAME, Conversions.toByteBuffer(Types.StringType.get(), letter));
            upper.put(NAME, Conversions.toByteBuffer(Types.StringType.get(), letter + "z"));
        }
        return DataFiles.builder(table.spec())
            .withPath(table.location() + "/data/" + name)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(100)
            .withPartition(partition(table.spec(), chosen))
            .withSplitOffsets(List.of(4L, 50L))
            .withMetrics(new Metrics(rows, Map.of(VALUE, 40L), values, nulls, Map.of(), lower, upper))
            .build();
    }

    /** Returns values by chance, and sometimes NULL. */
    static PartitionData partition(PartitionSpec spec, Random chosen) {
        PartitionData found = new PartitionData(spec.partitionType());
        for (int at = 0; at < spec.fields().size(); at++) {
            PartitionField field = spec.fields().get(at);
            boolean isNull = field.transform().isVoid() || chosen.nextInt(8) == 0;
            found.set(at, isNull ? null : value(spec.partitionType().fields().get(at).type(), chosen));
        }
        return found;
    }

    private static Object value(Type type, Random chosen) {
        return switch (type.typeId()) {
            case LONG -> (long) chosen.nextInt(10);
            case DATE -> 19_723 + chosen.nextInt(9);
            default -> chosen.nextInt(4);
        };
    }

    /** Returns what a scan plans, in an order of its own: Iceberg's is not fixed. */
    static List<String> described(BatchScan scan) {
        List<String> found = new ArrayList<>();
        try (CloseableIterable<ScanTask> tasks = scan.planFiles()) {
            tasks.forEach(task -> found.add(described(task.asFileScanTask())));
        } catch (java.io.IOException failure) {
            throw new AssertionError(failure);
        }
        return found.stream().sorted().toList();
    }

    static List<DataFile> planned(BatchScan scan) {
        List<DataFile> found = new ArrayList<>();
        try (CloseableIterable<ScanTask> tasks = scan.planFiles()) {
            tasks.forEach(task -> found.add(task.asFileScanTask().file()));
        } catch (java.io.IOException failure) {
            throw new AssertionError(failure);
        }
        return found;
    }

    private static String described(FileScanTask task) {
        DataFile file = task.file();
        List<String> deletes = task.deletes().stream().map(ScannedTables::described).sorted().toList();
        return String.join(
            " ",
            file.location(),
            String.valueOf(file.partition()),
            String.valueOf(file.specId()),
            String.valueOf(file.dataSequenceNumber()),
            String.valueOf(file.fileSequenceNumber()),
            String.valueOf(file.firstRowId()),
            String.valueOf(file.recordCount()),
            String.valueOf(file.splitOffsets()),
            String.valueOf(file.lowerBounds()),
            String.valueOf(file.columnSizes()),
            task.start() + "+" + task.length(),
            String.valueOf(task.spec()),
            String.valueOf(task.schema()),
            String.valueOf(task.residual()),
            String.valueOf(deletes));
    }

    private static String described(DeleteFile file) {
        return String.join(
            " ",
            file.location(),
            String.valueOf(file.dataSequenceNumber()),
            String.valueOf(file.referencedDataFile()),
            String.valueOf(file.contentOffset()),
            String.valueOf(file.contentSizeInBytes()),
            String.valueOf(file.recordCount()));
    }

    /** Returns what a scan reports when its tasks are closed. */
    static ScanReport report(BatchScan scan) {
        List<ScanReport> found = new ArrayList<>();
        described(scan.metricsReporter(report -> found.add((ScanReport) report)));
        return found.get(0);
    }

    /** Returns the counts of a report, without its time. */
    static String counts(ScanReport report) {
        ScanMetricsResult metrics = report.scanMetrics();
        return String.join(
            " ",
            String.valueOf(metrics.totalDataManifests()),
            String.valueOf(metrics.scannedDataManifests()),
            String.valueOf(metrics.skippedDataManifests()),
            String.valueOf(metrics.resultDataFiles()),
            String.valueOf(metrics.skippedDataFiles()),
            String.valueOf(metrics.totalFileSizeInBytes()),
            String.valueOf(metrics.totalDeleteManifests()),
            String.valueOf(metrics.resultDeleteFiles()));
    }
}
