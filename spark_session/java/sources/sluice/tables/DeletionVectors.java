package sluice.tables;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.iceberg.ContentFileParser;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.BaseDeleteLoader;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.DVFileWriter;
import org.apache.iceberg.deletes.PositionDeleteIndex;
import org.apache.iceberg.encryption.EncryptingFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DeleteWriteResult;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.roaringbitmap.longlong.LongConsumer;
import org.roaringbitmap.longlong.Roaring64Bitmap;

/** Gathers the places of rows, and writes one deletion vector for each of their data files. For one use. */
public final class DeletionVectors {

    private final Map<String, Roaring64Bitmap> places = new TreeMap<>();

    /** Descriptions of files, as Iceberg's JSON. */
    public record Written(List<String> vectors, List<String> replaced) {}

    /** Adds rows of `file` and `pos`, a list; returns how many places there are by now. */
    public long add(Dataset<Row> found) {
        for (Row row : found.collectAsList()) {
            Roaring64Bitmap ofFile = places.computeIfAbsent(row.getString(0), file -> new Roaring64Bitmap());
            row.<Long>getList(1).forEach(ofFile::addLong);
        }
        return places.values().stream().mapToLong(Roaring64Bitmap::getLongCardinality).sum();
    }

    /**
     * Writes the vectors into one file, with the places that the snapshot's own deletes have in the same data files.
     * Deletes of such places that are of one data file alone are replaced.
     */
    public Written write(SparkSession session, String name, long snapshotId) throws Exception {
        if (places.isEmpty()) {
            return new Written(List.of(), List.of());
        }
        Table table = Spark3Util.loadIcebergTable(session, name);
        Map<String, FileScanTask> tasks = tasks(table, snapshotId);
        OutputFileFactory files = OutputFileFactory.builderFor(table, 0, 0)
            .operationId(UUID.randomUUID().toString())
            .format(FileFormat.PUFFIN)
            .build();
        DVFileWriter writer = new BaseDVFileWriter(files, path -> earlier(table, tasks.get(path)));
        try (writer) {
            places.forEach((path, ofFile) -> {
                FileScanTask task = tasks.get(path);
                ofFile.forEach((LongConsumer) place ->
                    writer.delete(path, place, task.spec(), task.file().partition()));
            });
        }
        DeleteWriteResult result = writer.result();
        return new Written(described(table, result.deleteFiles()), described(table, result.rewrittenDeleteFiles()));
    }

    private Map<String, FileScanTask> tasks(Table table, long snapshotId) throws IOException {
        Map<String, FileScanTask> found = new HashMap<>();
        try (CloseableIterable<FileScanTask> tasks = table.newScan().useSnapshot(snapshotId).planFiles()) {
            for (FileScanTask task : tasks) {
                if (places.containsKey(task.file().location())) {
                    found.put(task.file().location(), task);
                }
            }
        }
        if (found.size() < places.size()) {
            throw new IllegalStateException("Rows were found in files that the snapshot does not have.");
        }
        return found;
    }

    /** Returns what the snapshot's own deletes say about the places of rows in a file; null: nothing. */
    private static PositionDeleteIndex earlier(Table table, FileScanTask task) {
        List<DeleteFile> deletes = task.deletes().stream()
            .filter(each -> each.content() == FileContent.POSITION_DELETES)
            .toList();
        if (deletes.isEmpty()) {
            return null;
        }
        EncryptingFileIO files = EncryptingFileIO.combine(table.io(), table.encryption());
        return new BaseDeleteLoader(files::newInputFile).loadPositionDeletes(deletes, task.file().location());
    }

    private static List<String> described(Table table, List<DeleteFile> files) {
        return files.stream().map(each -> ContentFileParser.toJson(each, table.specs().get(each.specId()))).toList();
    }
}
