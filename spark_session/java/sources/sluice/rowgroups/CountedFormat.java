package sluice.rowgroups;

import org.apache.iceberg.FileFormat;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.formats.FormatModel;
import org.apache.iceberg.formats.ModelWriteBuilder;
import org.apache.iceberg.formats.ReadBuilder;
import org.apache.iceberg.io.InputFile;

/** Iceberg's Parquet, whose readers are counted. */
final class CountedFormat<D, S> implements FormatModel<D, S> {

    private final FormatModel<D, S> own;
    private final RowGroupCounts counts;

    CountedFormat(FormatModel<D, S> own, RowGroupCounts counts) {
        this.own = own;
        this.counts = counts;
    }

    @Override
    public FileFormat format() {
        return own.format();
    }

    @Override
    public Class<? extends D> type() {
        return own.type();
    }

    @Override
    public Class<S> schemaType() {
        return own.schemaType();
    }

    @Override
    public ModelWriteBuilder<D, S> writeBuilder(EncryptedOutputFile file) {
        return own.writeBuilder(file);
    }

    @Override
    public ReadBuilder<D, S> readBuilder(InputFile file) {
        return new CountedBuilder<>(own.readBuilder(file), file, counts);
    }
}
