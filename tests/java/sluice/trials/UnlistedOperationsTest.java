package sluice.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;

import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class UnlistedOperationsTest {

    private final Schema schema = new Schema(NestedField.required(1, "id", Types.LongType.get()));
    private final Table source = table(schema, PartitionSpec.unpartitioned());
    private String folder;
    private UnlistedOperations operations;
    private Table copy;

    @BeforeEach
    void begin() {
        append(source, file(source, "", "old.avro"));
        source.updateProperties().set("write.data.path", source.location() + "/elsewhere").commit();
        source.manageSnapshots().createTag("kept", source.currentSnapshot().snapshotId()).commit();
        long pinned = source.currentSnapshot().snapshotId();
        append(source, file(source, "", "later.avro"));
        // All tables in memory share their files.
        folder = source.location() + "/sluice-trials/" + UUID.randomUUID();
        TableOperations own = ((HasTableOperations) source).operations();
        operations = new UnlistedOperations(own, TrialCopy.begun(own.current(), folder, pinned));
        copy = new BaseTable(operations, "copy");
    }

    @Test
    void itBeginsWithTheFilesOfTheSnapshot() throws Exception {
        assertEquals("1", copy.currentSnapshot().summary().get("total-data-files"));
        assertEquals(Set.of("main"), copy.refs().keySet());
        assertNotEquals(source.uuid(), copy.uuid());
        assertEquals("1 100\n1 100\n", new SelectedFiles(copy).ofAll("[[]]"));
    }

    @Test
    void itsChangesReachNothingElse() {
        String before = ((HasTableOperations) source).operations().refresh().metadataFileLocation();
        copy.updateSpec().addField("id").commit();
        copy.replaceSortOrder().asc("id").commit();
        copy.newAppend().appendFile(file(copy, "id=1", "new.avro")).commit();
        assertEquals("2", copy.currentSnapshot().summary().get("total-data-files"));
        assertTrue(copy.currentSnapshot().manifestListLocation().startsWith(folder + "/metadata/"));
        assertTrue(operations.current().metadataFileLocation().startsWith(folder + "/metadata/"));
        assertTrue(copy.locationProvider().newDataLocation("x.parquet").startsWith(folder + "/data/"));
        assertEquals(before, ((HasTableOperations) source).operations().refresh().metadataFileLocation());
    }

    @Test
    void itsFilesAreNotDeletedWithSnapshots() {
        assertThrows(ValidationException.class, () -> copy.expireSnapshots().expireOlderThan(Long.MAX_VALUE).commit());
    }

    @Test
    void aCommitNeedsTheMetadataOfNow() {
        TableMetadata before = operations.current();
        copy.updateProperties().set("a", "1").commit();
        TableMetadata other = TableMetadata.buildFrom(before).setProperties(Map.of("b", "2")).build();
        assertThrows(CommitFailedException.class, () -> operations.commit(before, other));
    }

    @Test
    void itStaysInItsFolder() {
        assertThrows(IllegalArgumentException.class, () -> copy.updateLocation().setLocation("memory:/x").commit());
    }
}
