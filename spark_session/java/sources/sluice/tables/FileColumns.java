package sluice.tables;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
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
    private static final int TAIL = 8;
    private static final byte[] MAGIC = new byte[] {'P', 'A', 'R', '1'};
    private static final int LARGEST_FOOTER = 256 * 1024 * 1024;

    /**
     * Returns the table's fields that are in the file, in the file's order and as the table has them now; of a
     * struct, those inside that are in the file. Null: unknown, as for formats other than Parquet.
     */
    public static List of(DataFile file, Table table) throws IOException {
        if (file.format() != FileFormat.PARQUET || file.keyMetadata() != null) {
            return null;
        }
        MessageType type = footer(table.io().newInputFile(file.location()));
        if (type == null) {
            return null;
        }
        String mapping = (String) table.properties().get("schema.name-mapping.default");
        if (!ParquetSchemaUtil.hasIds(type)) {
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
     * storage.
     */
    public static List ofAll(List tasks, Table table) throws Exception {
        List reads = new ArrayList();
        for (int i = 0; i < tasks.size(); i++) {
            reads.add(new Read((DataFile) ((FileScanTask) tasks.get(i)).file(), table));
        }
        ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, Math.min(READ_AT_ONCE, reads.size())));
        try {
            List found = new ArrayList();
            List futures = pool.invokeAll(reads);
            for (int i = 0; i < futures.size(); i++) {
                found.add(((Future) futures.get(i)).get());
            }
            return found;
        } finally {
            pool.shutdownNow();
        }
    }

    private static final class Read implements Callable {
        private final DataFile file;
        private final Table table;

        Read(DataFile file, Table table) {
            this.file = file;
            this.table = table;
        }

        public Object call() throws Exception {
            return FileColumns.of(file, table);
        }
    }

    private static List inBoth(Types.StructType inFile, Types.StructType inTable) {
        List fields = new ArrayList();
        for (int i = 0; i < inFile.fields().size(); i++) {
            Types.NestedField each = (Types.NestedField) inFile.fields().get(i);
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
            List fields = inBoth(inFile.asStructType(), inTable.asStructType());
            // Whether a struct without remaining fields is NULL depends on its written fields.
            boolean isWhole = fields.isEmpty() || fields.equals(inTable.asStructType().fields());
            return isWhole ? inTable : Types.StructType.of(fields);
        }
        if (inFile.isListType() && inTable.isListType()) {
            Types.ListType own = inTable.asListType();
            Type element = inBoth(inFile.asListType().elementType(), own.elementType());
            if (element == own.elementType()) {
                return own;
            }
            return own.isElementOptional()
                ? Types.ListType.ofOptional(own.elementId(), element)
                : Types.ListType.ofRequired(own.elementId(), element);
        }
        if (inFile.isMapType() && inTable.isMapType()) {
            Types.MapType own = inTable.asMapType();
            Type value = inBoth(inFile.asMapType().valueType(), own.valueType());
            if (value == own.valueType()) {
                return own;
            }
            return own.isValueOptional()
                ? Types.MapType.ofOptional(own.keyId(), own.valueId(), own.keyType(), value)
                : Types.MapType.ofRequired(own.keyId(), own.valueId(), own.keyType(), value);
        }
        return inTable;
    }

    private static MessageType footer(InputFile file) throws IOException {
        long length = file.getLength();
        SeekableInputStream stream = file.newStream();
        try {
            byte[] tail = read(stream, length - TAIL, TAIL);
            int size = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt();
            boolean isPlain = true;
            for (int i = 0; i < MAGIC.length; i++) {
                isPlain = isPlain && tail[TAIL - MAGIC.length + i] == MAGIC[i];
            }
            if (!isPlain || size <= 0 || size > LARGEST_FOOTER || size > length - TAIL) {
                return null;
            }
            byte[] footer = read(stream, length - TAIL - size, size);
            // Without options it would accept messages of no size.
            return new ParquetMetadataConverter(ParquetReadOptions.builder().build())
                .readParquetMetadata(new ByteArrayInputStream(footer), ParquetMetadataConverter.SKIP_ROW_GROUPS)
                .getFileMetaData()
                .getSchema();
        } finally {
            stream.close();
        }
    }

    private static byte[] read(SeekableInputStream stream, long position, int size) throws IOException {
        byte[] found = new byte[size];
        stream.seek(Math.max(0L, position));
        int at = 0;
        while (at < size) {
            int count = stream.read(found, at, size - at);
            if (count < 0) {
                throw new IOException("A data file ends too early.");
            }
            at += count;
        }
        return found;
    }
}
