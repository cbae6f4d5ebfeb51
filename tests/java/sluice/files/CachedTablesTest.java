package sluice.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.hadoop.HadoopFileIO;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Iceberg's own reader sees the same tables with the cache, whatever is committed by whom. */
final class CachedTablesTest {

    private static final TableIdentifier NAME = TableIdentifier.of("shop", "item");
    private static final Schema SCHEMA = new Schema(
        Types.NestedField.required(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "note", Types.StringType.get()));
    private static final Schema OTHER = new Schema(Types.NestedField.required(1, "key", Types.LongType.get()));
    /** The large ones are larger than what is cached as a whole. */
    private static final int FEW = 10;
    private static final int MANY = 20_000;

    @TempDir
    private File folder;

    @Test
    void tablesAreTheSame() throws Exception {
        HadoopCatalog cached = catalog(CachingFileIO.class);
        HadoopCatalog plain = catalog(HadoopFileIO.class);
        cached.createNamespace(Namespace.of("shop"));
        Map<Long, String> expected = new TreeMap<>();
        Table table = cached.createTable(NAME, SCHEMA, PartitionSpec.unpartitioned());
        int[] sizes = {FEW, MANY, FEW, FEW};
        for (int turn = 0; turn < sizes.length; turn++) {
            Table writer = (turn % 2 == 0 ? cached : plain).loadTable(NAME);
            AppendFiles append = writer.newAppend();
            append.appendFile(written(writer, turn * 100_000L, sizes[turn], expected)).commit();
            for (int read = 0; read < 2; read++) {
                assertEquals(expected, rows(cached.loadTable(NAME)));
            }
            assertEquals(expected, rows(plain.loadTable(NAME)));
        }
        table.refresh();
        assertEquals(Map.of(100_007L, "7"), rows(table, 100_007L));
        Snapshot before = table.currentSnapshot();
        List<String> manifests = before.allManifests(table.io()).stream().map(each -> each.path()).toList();
        assertTrue(manifests.stream().allMatch(Wrapped::isCached));

        table.newDelete().deleteFromRowFilter(Expressions.lessThan("id", 50L)).commit();
        expected.keySet().removeIf(id -> id < 50);
        table.expireSnapshots().expireOlderThan(System.currentTimeMillis() + 1_000).retainLast(1).commit();
        // Those that are still used stay.
        for (String manifest : manifests) {
            assertEquals(table.io().newInputFile(manifest).exists(), Wrapped.isCached(manifest));
        }
        assertFalse(manifests.stream().allMatch(Wrapped::isCached));
        assertFalse(Wrapped.isCached(before.manifestListLocation()));
        assertEquals(expected, rows(cached.loadTable(NAME)));
        assertEquals(expected, rows(plain.loadTable(NAME)));

        // In a catalog of files, the next table has metadata under the same names.
        cached.dropTable(NAME, true);
        assertFalse(plain.tableExists(NAME));
        plain.createTable(NAME, OTHER, PartitionSpec.unpartitioned());
        assertEquals(OTHER.asStruct(), cached.loadTable(NAME).schema().asStruct());
    }

    private HadoopCatalog catalog(Class<?> io) {
        HadoopCatalog catalog = new HadoopCatalog();
        catalog.setConf(new Configuration());
        Map<String, String> properties = new HashMap<>(Wrapped.properties(HadoopFileIO.class.getName()));
        properties.put(CatalogProperties.FILE_IO_IMPL, io.getName());
        properties.put(CatalogProperties.WAREHOUSE_LOCATION, folder.toURI().toString() + "warehouse");
        catalog.initialize("lake", properties);
        return catalog;
    }

    private static DataFile written(Table table, long from, int count, Map<Long, String> expected) throws IOException {
        String name = "00000-0-" + UUID.randomUUID() + "-00001.parquet";
        DataWriter<Record> writer = Parquet.writeData(table.io().newOutputFile(table.location() + "/data/" + name))
            .schema(SCHEMA)
            .withSpec(PartitionSpec.unpartitioned())
            .createWriterFunc(GenericParquetWriter::create)
            .overwrite()
            .build();
        try (writer) {
            for (long id = from; id < from + count; id++) {
                GenericRecord row = GenericRecord.create(SCHEMA);
                row.setField("id", id);
                row.setField("note", String.valueOf(id - from));
                expected.put(id, String.valueOf(id - from));
                writer.write(row);
            }
        }
        return writer.toDataFile();
    }

    private static Map<Long, String> rows(Table table) throws IOException {
        try (CloseableIterable<Record> all = IcebergGenerics.read(table).build()) {
            return asMap(all);
        }
    }

    private static Map<Long, String> rows(Table table, long id) throws IOException {
        List<FileScanTask> tasks = new ArrayList<>();
        try (CloseableIterable<FileScanTask> planned =
                table.newScan().filter(Expressions.equal("id", id)).planFiles()) {
            planned.forEach(tasks::add);
        }
        assertEquals(1, tasks.size());
        try (CloseableIterable<Record> some =
                IcebergGenerics.read(table).where(Expressions.equal("id", id)).build()) {
            return asMap(some);
        }
    }

    private static Map<Long, String> asMap(Iterable<Record> rows) {
        Map<Long, String> found = new TreeMap<>();
        rows.forEach(row -> found.put((Long) row.getField("id"), (String) row.getField("note")));
        return found;
    }
}
