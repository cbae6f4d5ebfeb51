package sluice.manifests;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.MetadataColumns;

/**
 * Which delete files belong to a data file, as Iceberg's own index says. That index is not public.
 *
 * <p>It has the delete files of a whole snapshot, so that several queries share it. Iceberg leaves some of them out if
 * the filter of a query says so; here a scan may get more of them, which delete no row that it reads.
 */
final class DeleteIndex {

    private static final String INDEX = "org.apache.iceberg.DeleteFileIndex";

    private final Object index;
    private final Method ofDataFile;
    private final Set<Integer> equalityColumns;

    private DeleteIndex(Object index, Method ofDataFile, Set<Integer> equalityColumns) {
        this.index = index;
        this.ofDataFile = ofDataFile;
        this.equalityColumns = equalityColumns;
    }

    /** Returns the index of these files. Throws IllegalStateException if Iceberg's own is another one. */
    static DeleteIndex of(List<DeleteFile> files, CachedTable table, boolean isCaseSensitive) {
        try {
            Class<?> type = Class.forName(INDEX);
            Object builder = opened(type.getDeclaredMethod("builderFor", Iterable.class)).invoke(null, files);
            set(builder, "specsById", Map.class, table.loaded().specsById());
            set(builder, "schemasById", Map.class, table.loaded().schemasById());
            set(builder, "caseSensitive", boolean.class, isCaseSensitive);
            Object index = opened(builder.getClass().getDeclaredMethod("build")).invoke(builder);
            Method ofDataFile = opened(type.getDeclaredMethod("forDataFile", DataFile.class));
            Set<Integer> columns = new HashSet<>();
            for (DeleteFile file : files) {
                if (file.content() == FileContent.EQUALITY_DELETES) {
                    columns.addAll(file.equalityFieldIds());
                }
            }
            return new DeleteIndex(index, ofDataFile, Set.copyOf(columns));
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Returns the columns whose bounds a delete file needs, as Iceberg chooses them. */
    static Set<Integer> columnsOf(DeleteFile file) {
        return file.content() == FileContent.POSITION_DELETES
            ? Set.of(MetadataColumns.DELETE_FILE_PATH.fieldId())
            : Set.copyOf(file.equalityFieldIds());
    }

    /** Returns the columns whose bounds a data file needs, so that it gets as few delete files as with Iceberg. */
    Set<Integer> equalityColumns() {
        return equalityColumns;
    }

    /** Returns the delete files of a data file. */
    DeleteFile[] of(DataFile file) {
        try {
            return (DeleteFile[]) ofDataFile.invoke(index, file);
        } catch (InvocationTargetException failure) {
            throw failure.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failure);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void set(Object builder, String name, Class<?> type, Object value)
            throws ReflectiveOperationException {
        opened(builder.getClass().getDeclaredMethod(name, type)).invoke(builder, value);
    }

    private static Method opened(Method method) {
        method.setAccessible(true);
        return method;
    }
}
