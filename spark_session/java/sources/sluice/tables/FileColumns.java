package sluice.tables;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.mapping.NameMappingParser;
import org.apache.iceberg.parquet.ParquetSchemaUtil;
import org.apache.iceberg.shaded.org.apache.parquet.ParquetReadOptions;
import org.apache.iceberg.shaded.org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.iceberg.shaded.org.apache.parquet.schema.MessageType;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * The columns of a data file, from its footer. A file's metrics list them only for some writers, and never their
 * order.
 */
public final class FileColumns {

    private static final int READ_AT_ONCE = 8;
    /** A file ends with the size of its footer, four bytes, and the magic number. */
    private static final int TAIL = 8;
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST_FOOTER = 256 * 1024 * 1024;
    private static final String NAME_MAPPING = "schema.name-mapping.default";

    private FileColumns() {}

    /**
     * Returns the table's fields that are in the file, in the file's order and as the table has them now; of a
     * struct, those inside that are in the file. Null: unknown, as for formats other than Parquet.
     */
    public static List<Types.NestedField> of(DataFile file, Table table) throws IOException {
        if (file.format() != FileFormat.PARQUET || file.keyMetadata() != null) {
            return null;
        }
        MessageType type = footer(table.io().newInputFile(file.location()));
        if (type == null) {
            return null;
        }
        if (!ParquetSchemaUtil.hasIds(type)) {
            String mapping = table.properties().get(NAME_MAPPING);
            if (mapping == null) {
                return null;
            }
            type = ParquetSchemaUtil.applyNameMapping(type, NameMappingParser.fromJson(mapping));
        }
        Types.StructType found;
        try {
            found = ParquetSchemaUtil.convertAndPrune(type).asStruct();
        } catch (RuntimeException failure) {
            // A type of Parquet that Iceberg does not have; the reader of the rows reports it, if it matters.
            return null;
        }
        return inBoth(found, table.schema().asStruct());
    }

    /**
     * Returns the columns of each of these tasks' files, several at once: each takes one or two round trips to the
     * storage. Null: unknown.
     */
    static List<List<Types.NestedField>> ofAll(List<FileScanTask> tasks, Table table) throws Exception {
        List<Callable<List<Types.NestedField>>> reads = new ArrayList<>();
        for (FileScanTask task : tasks) {
            reads.add(() -> of(task.file(), table));
        }
        ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, Math.min(READ_AT_ONCE, reads.size())));
        try {
            List<List<Types.NestedField>> found = new ArrayList<>();
            for (Future<List<Types.NestedField>> read : pool.invokeAll(reads)) {
                found.add(read.get());
            }
            return found;
        } finally {
            pool.shutdownNow();
        }
    }

    /** Returns the table's fields that are in the file, in the file's order. */
    static List<Types.NestedField> inBoth(Types.StructType inFile, Types.StructType inTable) {
        List<Types.NestedField> fields = new ArrayList<>();
        for (Types.NestedField each : inFile.fields()) {
            Types.NestedField own = inTable.field(each.fieldId());
            if (own != null) {
                Type type = inBoth(each.type(), own.type());
                fields.add(type == own.type() ? own : Types.NestedField.from(own).ofType(type).build());
            }
        }
        return fields;
    }

    private static Type inBoth(Type inFile, Type inTable) {
        if (inFile.isStructType() && inTable.isStructType()) {
            List<Types.NestedField> fields = inBoth(inFile.asStructType(), inTable.asStructType());
            // Whether a struct without remaining fields is NULL depends on its written fields.
            boolean isWhole = fields.isEmpty() || fields.equals(inTable.asStructType().fields());
            return isWhole ? inTable : Types.StructType.of(fields);
        }
        if (inFile.isListType() && inTable.isListType()) {
            return inBoth(inFile.asListType(), inTable.asListType());
        }
        if (inFile.isMapType() && inTable.isMapType()) {
            return inBoth(inFile.asMapType(), inTable.asMapType());
        }
        return inTable;
    }

    private static Type inBoth(Types.ListType inFile, Types.ListType inTable) {
        Type element = inBoth(inFile.elementType(), inTable.elementType());
        if (element == inTable.elementType()) {
            return inTable;
        }
        return inTable.isElementOptional()
            ? Types.ListType.ofOptional(inTable.elementId(), element)
            : Types.ListType.ofRequired(inTable.elementId(), element);
    }

    private static Type inBoth(Types.MapType inFile, Types.MapType inTable) {
        Type value = inBoth(inFile.valueType(), inTable.valueType());
        if (value == inTable.valueType()) {
            return inTable;
        }
        return inTable.isValueOptional()
            ? Types.MapType.ofOptional(inTable.keyId(), inTable.valueId(), inTable.keyType(), value)
            : Types.MapType.ofRequired(inTable.keyId(), inTable.valueId(), inTable.keyType(), value);
    }

    /** Returns the schema in the footer; null: the file is encrypted or no Parquet file. */
    private static MessageType footer(InputFile file) throws IOException {
        long length = file.getLength();
        try (SeekableInputStream stream = file.newStream()) {
            byte[] tail = read(stream, length - TAIL, TAIL);
            int size = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt();
            boolean isPlain = Arrays.equals(tail, TAIL - MAGIC.length, TAIL, MAGIC, 0, MAGIC.length);
            if (!isPlain || size <= 0 || size > LARGEST_FOOTER || size > length - TAIL) {
                return null;
            }
            byte[] footer = read(stream, length - TAIL - size, size);
            // Without options it would accept messages of no size.
            return new ParquetMetadataConverter(ParquetReadOptions.builder().build())
                .readParquetMetadata(new ByteArrayInputStream(footer), ParquetMetadataConverter.SKIP_ROW_GROUPS)
                .getFileMetaData()
                .getSchema();
        }
    }

    private static byte[] read(SeekableInputStream stream, long position, int size) throws IOException {
        byte[] found = new byte[size];
        stream.seek(Math.max(0, position));
        if (stream.readNBytes(found, 0, size) < size) {
            throw new IOException("A data file ends too early.");
        }
        return found;
    }
}
