package sluice.manifests;

import static org.apache.iceberg.expressions.Expressions.equal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.GroupedFiles.rowsOf;
import static sluice.fixtures.GroupedFiles.task;
import static sluice.fixtures.GroupedFiles.written;
import static sluice.manifests.ScannedTables.cached;
import static sluice.manifests.ScannedTables.planned;
import static sluice.manifests.ScannedTables.report;

import java.util.List;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.mapping.MappingUtil;
import org.apache.iceberg.mapping.NameMappingParser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.fixtures.GroupedFiles;
import sluice.fixtures.Tables;
import sluice.rowgroups.CountedReads;
import sluice.rowgroups.FilesLeftOut;

/** Scans of files in which readers have selected no row group by the same filter. */
final class NotedScansTest {

    private static final long ENOUGH = 1 << 20;
    private static final Expression ABSENT = equal("word", "bat");

    private final Table table = Tables.table(GroupedFiles.SCHEMA, PartitionSpec.unpartitioned());
    private final ManifestCache cache = new ManifestCache();
    private final CountedReads reads = new CountedReads();

    @BeforeEach
    void open() throws Exception {
        cache.keepAtMost(ENOUGH);
        reads.clear();
        reads.open(ENOUGH, true);
        Tables.append(table, written(table), written(table));
    }

    @AfterEach
    void close() {
        reads.open(ENOUGH, false);
        reads.clear();
    }

    @Test
    void aFileIsPlannedUntilAReaderHasFoundNothingInIt() throws Exception {
        List<DataFile> files = planned(scan(ABSENT));
        assertEquals(2, files.size());
        read(files.get(0), ABSENT);
        assertEquals(List.of(files.get(1).location()), locations(scan(ABSENT)));
        read(files.get(1), ABSENT);
        assertEquals(List.of(), locations(scan(ABSENT)));
        Tables.append(table, written(table));
        assertEquals(1, planned(scan(ABSENT)).size());
    }

    @Test
    void whatIsLeftOutIsReportedAndCounted() throws Exception {
        read(planned(scan(ABSENT)).get(0), ABSENT);
        BatchScan scan = scan(ABSENT);
        assertEquals(0, ((FilesLeftOut) scan).filesLeftOut());
        planned(scan);
        assertEquals(1, ((FilesLeftOut) scan).filesLeftOut());
        assertEquals(1, report(scan(ABSENT)).scanMetrics().skippedDataFiles().value());
        assertEquals(1, report(scan(ABSENT)).scanMetrics().resultDataFiles().value());
        BatchScan another = scan(equal("word", "cat"));
        assertEquals(2, planned(another).size());
        assertEquals(0, ((FilesLeftOut) another).filesLeftOut());
    }

    @Test
    void whoWantsWholeFilesGetsThem() throws Exception {
        readAll(ABSENT);
        assertEquals(0, planned(scan(ABSENT)).size());
        // As a copy-on-write does, and pushed aggregations.
        assertEquals(2, planned(scan(ABSENT).ignoreResiduals()).size());
        assertEquals(2, planned(scan(ABSENT).includeColumnStats()).size());
        assertEquals(2, planned(table.newBatchScan().filter(ABSENT)).size());
        assertEquals(2, planned(cached(table, cache).newBatchScan()).size());
    }

    @Test
    void aColumnIsTheSameByAnotherNameAndAnotherOneByTheSame() throws Exception {
        readAll(ABSENT);
        table.updateSchema().renameColumn("word", "term").commit();
        assertEquals(0, planned(scan(equal("term", "bat"))).size());
        table.updateSchema().renameColumn("code", "word").commit();
        assertEquals(2, planned(scan(ABSENT)).size());
    }

    @Test
    void aMappingOfNamesMayChangeWhichColumnsAFileHas() throws Exception {
        readAll(ABSENT);
        String mapping = NameMappingParser.toJson(MappingUtil.create(table.schema()));
        table.updateProperties().set(TableProperties.DEFAULT_NAME_MAPPING, mapping).commit();
        assertEquals(2, planned(scan(ABSENT)).size());
        table.updateProperties().remove(TableProperties.DEFAULT_NAME_MAPPING).commit();
        assertEquals(0, planned(scan(ABSENT)).size());
    }

    @Test
    void formerSnapshotsAndBranchesHaveTheirOwnFiles() throws Exception {
        long before = table.currentSnapshot().snapshotId();
        readAll(ABSENT);
        table.manageSnapshots().createBranch("dev").commit();
        table.newAppend().appendFile(written(table)).toBranch("dev").commit();
        Tables.append(table, written(table));
        assertEquals(0, planned(scan(ABSENT).useSnapshot(before)).size());
        assertEquals(1, planned(scan(ABSENT).useRef("dev")).size());
        assertEquals(1, planned(scan(ABSENT)).size());
    }

    private BatchScan scan(Expression filter) {
        return cached(table, cache).newBatchScan().filter(filter);
    }

    private void readAll(Expression filter) throws Exception {
        for (DataFile file : planned(table.newBatchScan())) {
            read(file, filter);
        }
    }

    private void read(DataFile file, Expression filter) throws Exception {
        assertEquals(0, rowsOf(table, task(table, file, filter)));
    }

    private static List<String> locations(BatchScan scan) {
        return planned(scan).stream().map(DataFile::location).toList();
    }
}
