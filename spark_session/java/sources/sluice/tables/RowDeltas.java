package sluice.tables;

import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.ContentFileParser;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestWriter;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.util.JsonUtil;
import org.apache.spark.sql.SparkSession;

/**
 * Builds snapshots from data files and equality deletes, and commits none of them.
 *
 * Nothing is validated against other commits, because an equality delete names no file. It reaches everything that
 * was committed before it, and nothing that is committed after it.
 */
public final class RowDeltas {
    private static final Long SNAPSHOT_ID = Long.valueOf(1L);

    /**
     * Writes the manifests of one snapshot and returns its JSON. Nothing: the table's metadata is no longer the one
     * at that location. Any other answer names the file whose JSON cannot be read, by its place among data and
     * deletes, and why; see `unreadable`.
     */
    public String prepare(
        Object session, String name, String metadataLocation, String branch, List data, List deletes, Map summary
    ) throws Exception {
        Table table = Spark3Util.loadIcebergTable((SparkSession) session, name);
        TableOperations operations = ((HasTableOperations) table).operations();
        TableMetadata base = operations.current();
        if (!metadataLocation.equals(base.metadataFileLocation())) {
            base = operations.refresh();
        }
        if (!metadataLocation.equals(base.metadataFileLocation())) {
            return "";
        }
        RowDelta delta = new BaseTable(new Standing(operations, base), name).newRowDelta();
        int place = 0;
        try {
            for (int i = 0; i < data.size(); i++, place++) {
                delta.addRows((DataFile) file((String) data.get(i), base));
            }
            for (int i = 0; i < deletes.size(); i++, place++) {
                delta.addDeletes((DeleteFile) file((String) deletes.get(i), base));
            }
        } catch (RuntimeException failure) {
            return unreadable(place, failure);
        }
        Object[] names = summary.keySet().toArray();
        for (int i = 0; i < names.length; i++) {
            delta.set((String) names[i], (String) summary.get(names[i]));
        }
        delta.toBranch(branch);
        try {
            return SnapshotParser.toJson((Snapshot) delta.apply());
        } catch (RuntimeException failure) {
            String reason = undescribable(data, deletes, base);
            if (reason != null) {
                return reason;
            }
            throw failure;
        }
    }

    /**
     * Returns why these files cannot be written into manifests, tried in memory, where nothing else can fail; null:
     * they can. This separates a fault of the files, which is permanent, from one of the table or its storage.
     */
    private static String undescribable(List data, List deletes, TableMetadata base) throws Exception {
        int place = 0;
        try {
            for (int i = 0; i < data.size(); i++, place++) {
                ManifestWriter rows = ManifestFiles.write(
                    base.formatVersion(), base.spec(), new InMemoryOutputFile(), SNAPSHOT_ID);
                rows.add(file((String) data.get(i), base));
                rows.close();
                rows.toManifestFile();
            }
            for (int i = 0; i < deletes.size(); i++, place++) {
                // Some are of earlier specs.
                DeleteFile each = (DeleteFile) file((String) deletes.get(i), base);
                ManifestWriter gone = ManifestFiles.writeDeleteManifest(
                    base.formatVersion(), base.spec(each.specId()), new InMemoryOutputFile(), SNAPSHOT_ID);
                gone.add(each);
                gone.close();
                gone.toManifestFile();
            }
            return null;
        } catch (RuntimeException failure) {
            return unreadable(place, failure);
        }
    }

    private static String unreadable(int place, RuntimeException failure) {
        return place + " is unreadable: " + failure;
    }

    private static ContentFile file(String json, TableMetadata base) {
        try {
            return ContentFileParser.fromJson(JsonUtil.mapper().readTree(json), base.specsById());
        } catch (java.io.IOException failure) {
            throw new IllegalArgumentException(failure.toString());
        }
    }

    /** A table that stays as it is, so that the snapshot is made for the metadata that was checked. */
    private static final class Standing extends ForwardingOperations {
        private final TableMetadata base;

        Standing(TableOperations operations, TableMetadata base) {
            super(operations);
            this.base = base;
        }

        public TableMetadata current() {
            return base;
        }

        public TableMetadata refresh() {
            return base;
        }

        public void commit(TableMetadata before, TableMetadata after) {
            throw new UnsupportedOperationException("The snapshot is committed elsewhere.");
        }
    }
}
