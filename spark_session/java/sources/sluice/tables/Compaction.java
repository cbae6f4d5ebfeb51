package sluice.tables;

import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.actions.RewriteDataFiles;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.spark.actions.RewriteDataFilesSparkAction;
import org.apache.iceberg.spark.actions.SparkActions;
import org.apache.spark.sql.SparkSession;

/**
 * Iceberg's own rewriting of data files: each new file has all columns of the table.
 */
public final class Compaction {

    /** Returns the counts of the work done, by the names in Iceberg's procedure. */
    public Map rewrite(Object session, String name, String branch, Map options) throws Exception {
        SparkSession spark = (SparkSession) session;
        Table table = Spark3Util.loadIcebergTable(spark, name);
        TableOperations operations = new OneSpec(((HasTableOperations) table).operations(), branch);
        RewriteDataFilesSparkAction action =
            SparkActions.get(spark).rewriteDataFiles(new BaseTable(operations, name));
        action.toBranch(branch);
        action.options(options);
        RewriteDataFiles.Result result = (RewriteDataFiles.Result) action.execute();
        Map counts = new HashMap();
        counts.put("rewritten_data_files_count", Long.valueOf(result.rewrittenDataFilesCount()));
        counts.put("added_data_files_count", Long.valueOf(result.addedDataFilesCount()));
        counts.put("rewritten_bytes_count", Long.valueOf(result.rewrittenBytesCount()));
        counts.put("removed_delete_files_count", Long.valueOf(result.removedDeleteFilesCount()));
        return counts;
    }
}
