package sluice.rowgroups;

import java.util.Map;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.formats.ReadBuilder;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.mapping.NameMapping;

/** Iceberg's builder of a reader, which lets the reader's row groups be counted if it gets a filter. */
final class CountedBuilder<D, S> implements ReadBuilder<D, S> {

    private final ReadBuilder<D, S> own;
    private final InputFile file;
    private final RowGroupCounts counts;
    private Schema read;
    private boolean hasMapping = false;
    private boolean isCaseSensitive = true;
    private Expression filter = Expressions.alwaysTrue();
    private long start;
    private long length = -1;

    CountedBuilder(ReadBuilder<D, S> own, InputFile file, RowGroupCounts counts) {
        this.own = own;
        this.file = file;
        this.counts = counts;
    }

    @Override
    public ReadBuilder<D, S> split(long newStart, long newLength) {
        own.split(newStart, newLength);
        start = newStart;
        length = newLength;
        return this;
    }

    @Override
    public ReadBuilder<D, S> project(Schema schema) {
        own.project(schema);
        read = schema;
        return this;
    }

    @Override
    public ReadBuilder<D, S> engineProjection(S schema) {
        own.engineProjection(schema);
        return this;
    }

    @Override
    public ReadBuilder<D, S> caseSensitive(boolean isWanted) {
        own.caseSensitive(isWanted);
        isCaseSensitive = isWanted;
        return this;
    }

    @Override
    public ReadBuilder<D, S> filter(Expression given) {
        own.filter(given);
        filter = given;
        return this;
    }

    @Override
    public ReadBuilder<D, S> set(String key, String value) {
        own.set(key, value);
        return this;
    }

    @Override
    public ReadBuilder<D, S> setAll(Map<String, String> properties) {
        own.setAll(properties);
        return this;
    }

    @Override
    public ReadBuilder<D, S> reuseContainers() {
        own.reuseContainers();
        return this;
    }

    @Override
    public ReadBuilder<D, S> recordsPerBatch(int rows) {
        own.recordsPerBatch(rows);
        return this;
    }

    @Override
    public ReadBuilder<D, S> idToConstant(Map<Integer, ?> constants) {
        own.idToConstant(constants);
        return this;
    }

    @Override
    public ReadBuilder<D, S> withNameMapping(NameMapping mapping) {
        own.withNameMapping(mapping);
        hasMapping = mapping != null;
        return this;
    }

    /**
     * Without a filter, the reader selects all row groups. With a mapping of names, which the table may change, a filter
     * may select others of the same file later.
     */
    @Override
    public CloseableIterable<D> build() {
        CloseableIterable<D> rows = own.build();
        boolean isFiltered = filter != null && filter.op() != Expression.Operation.TRUE;
        if (!isFiltered || hasMapping || read == null || length < 0) {
            return rows;
        }
        FilePart part = new FilePart(file, start, length);
        return new CountedRows<>(rows, found -> counts.note(part, filter, isCaseSensitive, read, found));
    }
}
