package sluice.trials;

import java.util.regex.Pattern;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.SupportsPrefixOperations;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.spark.sql.SparkSession;
import sluice.files.CachingFileIO;

/** Tries other layouts of tables. Whatever a trial writes is in one folder below the table's location. */
public final class LayoutTrials {

    private static final String FOLDER = "/sluice-trials/";
    private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** Returns a copy of the table at the snapshot, in the trial's folder. Nothing is written yet. */
    public TrialCopy begin(SparkSession session, String name, String id, long snapshotId) throws Exception {
        Table table = Spark3Util.loadIcebergTable(session, name);
        if (table.snapshot(snapshotId) == null) {
            throw new IllegalStateException("The snapshot " + snapshotId + " has expired");
        }
        if (!canDrop(table.io())) {
            throw new IllegalStateException("The table's storage cannot delete a folder, so no copy is made");
        }
        return new TrialCopy(session, ((HasTableOperations) table).operations(), folder(table, id), snapshotId);
    }

    /** Deletes all that the trial has written. Nothing of the table is in that folder. */
    public void drop(SparkSession session, String name, String id) throws Exception {
        Table table = Spark3Util.loadIcebergTable(session, name);
        ((SupportsPrefixOperations) table.io()).deletePrefix(folder(table, id));
    }

    private static boolean canDrop(FileIO io) {
        return io instanceof CachingFileIO caching
            ? caching.supportsPrefixes()
            : io instanceof SupportsPrefixOperations;
    }

    private static String folder(Table table, String id) {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("Not the id of a trial");
        }
        return table.location().replaceAll("/+$", "") + FOLDER + id;
    }
}
