package sluice.tables;

import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.actions.RewriteDataFiles;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.spark.actions.RewriteDataFilesSparkAction;
import org.apache.iceberg.spark.actions.SparkActions;
import org.apache.spark.sql.SparkSession;

/** Iceberg's own rewriting of data files: each new file has all columns of the table. */
public final class Compaction {

    /** Returns the counts of the work done, by the names in Iceberg's procedure. */
    public Map<String, Long> rewrite(SparkSession session, String name, String branch, Map<String, String> options)
            throws Exception {
        Table loaded = Spark3Util.loadIcebergTable(session, name);
        Table table = new BaseTable(new OneSpec(((HasTableOperations) loaded).operations(), branch), name);
        RewriteDataFilesSparkAction action = SparkActions.get(session).rewriteDataFiles(table);
        action.toBranch(branch);
        action.options(options);
        RewriteDataFiles.Result result = action.execute();
        Map<String, Long> counts = new HashMap<>();
        counts.put("rewritten_data_files_count", (long) result.rewrittenDataFilesCount());
        counts.put("added_data_files_count", (long) result.addedDataFilesCount());
        counts.put("rewritten_bytes_count", result.rewrittenBytesCount());
        counts.put("removed_delete_files_count", (long) result.removedDeleteFilesCount());
        return counts;
    }
}
