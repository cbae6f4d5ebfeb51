package sluice.trials;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.io.CloseableIterable;
import sluice.manifests.SpecFilter;

/** Counts the data files that scans select of a table, with Iceberg's own evaluation of bounds and partitions. */
final class SelectedFiles {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Table table;

    SelectedFiles(Table table) {
        this.table = table;
    }

    /**
     * Takes a JSON list with a list of `{"column", "ranges"}` for each scan. Returns its files and bytes in a line
     * each; the line before them has those of the whole table.
     */
    String ofAll(String scans) throws IOException {
        JsonNode all = JSON.readTree(scans);
        List<DataFile> files = files(columns(all));
        StringBuilder found = new StringBuilder();
        append(found, files);
        for (JsonNode scan : all) {
            append(found, selected(files, RangeExpressions.of(scan, table.schema())));
        }
        return found.toString();
    }

    private List<DataFile> selected(List<DataFile> files, Expression filter) {
        Map<Integer, SpecFilter> filters = new HashMap<>();
        List<DataFile> found = new ArrayList<>();
        for (DataFile file : files) {
            SpecFilter ofSpec = filters.computeIfAbsent(
                file.specId(), id -> new SpecFilter(table.specs().get(id), filter, true, false));
            if (ofSpec.mayHaveRows(file)) {
                found.add(file);
            }
        }
        return found;
    }

    /** The files with the bounds of these columns only: those of all columns take much memory. */
    private List<DataFile> files(Set<String> columns) throws IOException {
        List<DataFile> found = new ArrayList<>();
        TableScan scan = table.newScan();
        scan = columns.isEmpty() ? scan : scan.includeColumnStats(columns);
        try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
            for (FileScanTask task : tasks) {
                found.add(task.file());
            }
        }
        return found;
    }

    private Set<String> columns(JsonNode scans) {
        Set<String> found = new HashSet<>();
        for (JsonNode scan : scans) {
            for (JsonNode predicate : scan) {
                String column = predicate.get("column").asText();
                if (table.schema().findField(column) != null) {
                    found.add(column);
                }
            }
        }
        return found;
    }

    private static void append(StringBuilder found, List<DataFile> files) {
        long bytes = files.stream().mapToLong(DataFile::fileSizeInBytes).sum();
        found.append(files.size()).append(' ').append(bytes).append('\n');
    }
}
