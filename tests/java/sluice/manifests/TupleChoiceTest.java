package sluice.manifests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.manifests.ScannedTables.commit;
import static sluice.manifests.ScannedTables.file;
import static sluice.manifests.ScannedTables.planned;
import static sluice.manifests.ScannedTables.table;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.tuples.TupleSet;

final class TupleChoiceTest {

    private static final int ROUNDS = 45;
    private static final List<String> NAMES = List.of("k", "v", "day", "name");
    private static final List<Type> TYPES = List.of(
        Types.IntegerType.get(), Types.LongType.get(), Types.DateType.get(), Types.StringType.get());

    private final ManifestCache cache = new ManifestCache();
    private int queries;

    @BeforeEach
    void bound() {
        cache.keepAtMost(64 << 20);
        cache.tuples().keepAtMost(64 << 20);
    }

    /** Iceberg plans a scan for each tuple alone. All of them together are the files to read. */
    @Test
    void aScanSelectsAFileIfIcebergSelectsItForOneOfTheTuples() {
        Random chosen = new Random(23);
        Table table = table(2);
        int left = 0;
        int all = 0;
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            List<Integer> columns = columns(chosen);
            List<Object[]> tuples = tuples(chosen, columns);
            Set<String> expected = new TreeSet<>();
            for (Object[] tuple : tuples) {
                expected.addAll(paths(table.newBatchScan().filter(equalities(columns, tuple))));
            }
            Set<String> found = paths(withTuples(table, columns, tuples).newBatchScan());
            assertEquals(expected, found);
            left += found.size();
            all += paths(table.newBatchScan()).size();
        }
        assertTrue(left > ROUNDS && left < all, "they select nothing or all, so nothing is proven");
    }

    @Test
    void aFilterAndTuplesTogetherSelectWhatBothDo() {
        Random chosen = new Random(29);
        Table table = table(2);
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            List<Integer> columns = columns(chosen);
            List<Object[]> tuples = tuples(chosen, columns);
            Expression filter = Filters.any(chosen, table.schema());
            Set<String> expected = paths(withTuples(table, columns, tuples).newBatchScan());
            expected.retainAll(paths(table.newBatchScan().filter(filter)));
            CachedTable both = withTuples(table, columns, tuples);
            assertEquals(expected, paths(both.newBatchScan().filter(filter)));
        }
    }

    @Test
    void aSetIsIndexedOnceForEachSpec() {
        Table table = table(2);
        for (int at = 0; at < 3; at++) {
            table.newAppend().appendFile(file(table, "k=" + at, "file-" + at)).commit();
        }
        List<Object[]> tuples = List.of(new Object[] {0, 1L}, new Object[] {2, 5L});
        assertEquals(2, paths(withTuples(table, List.of(0, 1), tuples).newBatchScan()).size());
        assertEquals("q1", cache.tuples().used("query-1"));
        cache.tuples().use("again", "f", table.name(), table.currentSnapshot().snapshotId(), names(List.of(0, 1)), "set-1");
        CachedTable again = CachedTable.of(table, cache, cache.tuples().of("again"));
        long before = misses();
        assertEquals(2, paths(again.newBatchScan()).size());
        assertEquals(before, misses());
        cache.tuples().end("again");
        assertEquals(List.of(), cache.tuples().of("again"));
    }

    @Test
    void tuplesOfAnotherSnapshotOrOfOtherColumnsLeaveOutNothing() {
        Table table = table(2);
        for (int at = 0; at < 3; at++) {
            table.newAppend().appendFile(file(table, "k=" + at, "file-" + at)).commit();
        }
        List<Object[]> tuples = List.of(new Object[] {0, 1L}, new Object[] {2, 5L});
        CachedTable before = withTuples(table, List.of(0, 1), tuples);
        table.newAppend().appendFile(file(table, "k=7", "file-7")).commit();
        CachedTable later = CachedTable.of(table, cache, cache.tuples().of("query-1"));
        assertEquals(2, paths(before.newBatchScan().useSnapshot(before.loaded().currentSnapshot().snapshotId())).size());
        assertEquals(4, paths(later.newBatchScan()).size());
        table.updateSchema().updateColumn("k", Types.LongType.get()).commit();
        assertEquals(4, paths(withTuples(table, List.of(0, 1), tuples).newBatchScan()).size());
        assertEquals("", cache.tuples().used("query-2"));
    }

    @Test
    void aSetThatDoesNotFitIsNotUsed() {
        cache.tuples().keepAtMost(1000);
        TupleSet set = TupleSet.of(TYPES.subList(0, 1), List.of(new long[200]), 200);
        assertFalse(cache.tuples().add("large", set));
        assertFalse(cache.tuples().use("query", "f", "lake.shop.item", 1, new String[] {"k"}, "large"));
    }

    private CachedTable withTuples(Table table, List<Integer> columns, List<Object[]> tuples) {
        queries++;
        List<Type> types = columns.stream().map(TYPES::get).toList();
        List<Object> values = new ArrayList<>();
        for (int at = 0; at < columns.size(); at++) {
            values.add(column(tuples, at, types.get(at)));
        }
        assertTrue(cache.tuples().add("set-" + queries, TupleSet.of(types, values, tuples.size())));
        long snapshot = table.currentSnapshot().snapshotId();
        String query = "query-" + queries;
        assertTrue(cache.tuples().use(query, "q" + queries, table.name(), snapshot, names(columns), "set-" + queries));
        return CachedTable.of(table, cache, cache.tuples().of(query));
    }

    private static String[] names(List<Integer> columns) {
        return columns.stream().map(NAMES::get).toArray(String[]::new);
    }

    private static Object column(List<Object[]> tuples, int at, Type type) {
        if (type.typeId() == Type.TypeID.STRING) {
            return tuples.stream().map(tuple -> tuple[at]).toArray();
        }
        return tuples.stream().mapToLong(tuple -> ((Number) tuple[at]).longValue()).toArray();
    }

    /** Returns two columns or more, in any order. */
    private static List<Integer> columns(Random chosen) {
        List<Integer> found = new ArrayList<>(List.of(0, 1, 2, 3));
        Collections.shuffle(found, chosen);
        return found.subList(0, 2 + chosen.nextInt(3));
    }

    private static List<Object[]> tuples(Random chosen, List<Integer> columns) {
        List<Object[]> found = new ArrayList<>();
        int count = 1 + chosen.nextInt(12);
        for (int at = 0; at < count; at++) {
            found.add(columns.stream().map(column -> value(column, chosen)).toArray());
        }
        return found;
    }

    private static Object value(int column, Random chosen) {
        return switch (column) {
            case 0 -> chosen.nextInt(6);
            case 1 -> (long) (chosen.nextInt(60) - 30);
            case 2 -> (19_723 + chosen.nextInt(12));
            default -> String.valueOf((char) ('a' + chosen.nextInt(6)));
        };
    }

    private static Expression equalities(List<Integer> columns, Object[] tuple) {
        Expression found = Expressions.alwaysTrue();
        for (int at = 0; at < tuple.length; at++) {
            found = Expressions.and(found, Expressions.equal(NAMES.get(columns.get(at)), tuple[at]));
        }
        return found;
    }

    private static Set<String> paths(BatchScan scan) {
        Set<String> found = new TreeSet<>();
        for (DataFile each : planned(scan)) {
            found.add(each.location());
        }
        return found;
    }

    private long misses() {
        return Long.parseLong(cache.tuples().use().split(" ")[3]);
    }
}
