package sluice.scans;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.CatalogFileIndex;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import scala.Option;
import scala.collection.Seq;
import sluice.collections.LruMap;

/**
 * Lists the files of tables in Spark's own catalog as Spark itself lists them for a query, by its own index of the
 * table.
 *
 * <p>A listing is cached for the time that its caller allows. A listing with very young files is never cached and
 * equals no other, because a store may give their successors the same time.
 */
final class FileListings {

    private static final int LISTINGS_KEPT = 1024;
    /** A metastore lists partitions only; to list the files of more than these would cost more than it is worth. */
    private static final int LISTED_PARTITIONS = 1000;
    private static final long ASSUMED_PARTITION_BYTES = 1L << 20;
    private static final long YOUNG_MS = 2000;

    private final Map<String, Kept> listings = new LruMap<>(LISTINGS_KEPT);

    /** `listing` is null if the table is not one of files. */
    private record Kept(long at, FileListing listing) {}

    /**
     * Returns a listing of the table that is at most `keptMs` old, and gives `values` its partitions if it is listed
     * now; null if it is not a table of files.
     */
    FileListing of(SparkSession spark, CatalogTable table, long keptMs, PartitionValues values) throws Exception {
        String location = table.storage().locationUri().isEmpty() ? "" : table.location().toString();
        String key = table.identifier().toString() + table.createTime() + table.schema().json() + location;
        long now = System.currentTimeMillis();
        Kept known;
        synchronized (listings) {
            known = listings.get(key);
        }
        if (known != null && now - known.at < keptMs) {
            return known.listing;
        }
        FileListing found = listed(spark, table, now, values);
        synchronized (listings) {
            if (found != null && found.isYoung()) {
                listings.remove(key);
            } else {
                listings.put(key, new Kept(now, found));
            }
        }
        return found;
    }

    /** Returns the files that an index has listed. `now` is the time of the listing in milliseconds. */
    static FileListing of(PartitioningAwareFileIndex index, long now) throws NoSuchAlgorithmException {
        List<String> files = new ArrayList<>();
        long bytes = 0;
        long newest = 0;
        for (FileStatus file : list(index.allFiles())) {
            if (file.getLen() > 0) {
                bytes += file.getLen();
                newest = Math.max(newest, file.getModificationTime());
                files.add(file.getPath() + " " + file.getLen() + " " + file.getModificationTime());
            }
        }
        boolean isYoung = newest > now - YOUNG_MS;
        String state = isYoung ? UUID.randomUUID().toString() : digestOf(files);
        return new FileListing(partitionsOf(index, files.size()), files.size(), bytes, state, isYoung);
    }

    /** Returns the files that a plan of one named table reads; null if it reads something else. */
    static HadoopFsRelation filesIn(LogicalPlan plan) {
        LogicalPlan node = plan;
        while (node instanceof SubqueryAlias alias) {
            node = alias.child();
        }
        return node instanceof LogicalRelation found && found.relation() instanceof HadoopFsRelation files
            ? files
            : null;
    }

    private static FileListing listed(SparkSession spark, CatalogTable table, long now, PartitionValues values)
            throws Exception {
        // A session of its own: the others remember what they listed last.
        SparkSession lister = spark.newSession();
        String name = SessionTables.CATALOG + "." + quoted(table.identifier().database().get())
            + "." + quoted(table.identifier().table());
        HadoopFsRelation relation = filesIn(lister.table(name).queryExecution().analyzed());
        if (relation == null) {
            return null;
        }
        FileIndex index = relation.location();
        if (index instanceof PartitioningAwareFileIndex listed) {
            values.take(listed);
            return of(listed, now);
        }
        return index instanceof CatalogFileIndex ofMetastore ? listed(lister, table, ofMetastore, now, values) : null;
    }

    private static FileListing listed(
            SparkSession spark, CatalogTable table, CatalogFileIndex index, long now, PartitionValues values)
            throws Exception {
        Seq<String> names = spark.sessionState().catalog().listPartitionNames(table.identifier(), Option.empty());
        long partitions = list(names).size();
        if (partitions <= LISTED_PARTITIONS) {
            PartitioningAwareFileIndex whole = index.filterPartitions(seq(List.of()));
            values.take(whole);
            return of(whole, now);
        }
        values.take(names, table.partitionSchema());
        long bytes = table.stats().isEmpty()
            ? partitions * ASSUMED_PARTITION_BYTES
            : table.stats().get().sizeInBytes().longValue();
        return new FileListing(partitions, partitions, bytes, UUID.randomUUID().toString(), false);
    }

    private static String digestOf(List<String> files) throws NoSuchAlgorithmException {
        Collections.sort(files);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (String file : files) {
            digest.update(file.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
        }
        return new BigInteger(1, digest.digest()).toString(16);
    }

    private static long partitionsOf(PartitioningAwareFileIndex index, long files) {
        boolean isPartitioned = index.partitionSchema().length() > 0;
        return isPartitioned ? list(index.partitionSpec().partitions()).size() : Math.min(1, files);
    }

    private static String quoted(String name) {
        return "`" + name.replace("`", "``") + "`";
    }
}
