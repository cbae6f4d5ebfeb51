package sluice.manifests;

import org.apache.iceberg.BaseFileScanTask;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.expressions.Evaluator;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.InclusiveMetricsEvaluator;
import org.apache.iceberg.expressions.ManifestEvaluator;
import org.apache.iceberg.expressions.Projections;
import org.apache.iceberg.expressions.ResidualEvaluator;

/** The filter of a scan, for the files of one partition spec. */
public final class SpecFilter {

    private final PartitionSpec spec;
    private final boolean hasFilter;
    private final ManifestEvaluator manifests;
    private final Evaluator partitions;
    private final InclusiveMetricsEvaluator bounds;
    private final ResidualEvaluator residuals;
    private String schemaText;
    private String specText;

    public SpecFilter(PartitionSpec spec, Expression filter, boolean isCaseSensitive, boolean ignoresResiduals) {
        Expression projected = Projections.inclusive(spec, isCaseSensitive).project(filter);
        this.spec = spec;
        this.hasFilter = filter.op() != Expression.Operation.TRUE;
        this.manifests = ManifestEvaluator.forPartitionFilter(projected, spec, isCaseSensitive);
        this.partitions = new Evaluator(spec.partitionType(), projected, isCaseSensitive);
        this.bounds = new InclusiveMetricsEvaluator(spec.schema(), filter, isCaseSensitive);
        Expression rest = ignoresResiduals ? Expressions.alwaysTrue() : filter;
        this.residuals = ResidualEvaluator.of(spec, rest, isCaseSensitive);
    }

    boolean mayHaveRows(ManifestFile manifest) {
        return manifests.eval(manifest);
    }

    /** A file without rows is left out only by a filter, as Iceberg does. */
    public boolean mayHaveRows(DataFile file) {
        return !hasFilter || partitions.eval(file.partition()) && bounds.eval(file);
    }

    /** Returns what is left of the filter in the partition of a file. */
    Expression residualOf(DataFile file) {
        return residuals.residualFor(file.partition());
    }

    /** Returns the task that reads the file, with the rest of the filter. Tasks travel without bounds. */
    FileScanTask taskOf(DataFile file, DeleteFile[] deletes) {
        if (schemaText == null) {
            schemaText = SchemaParser.toJson(spec.schema());
            specText = PartitionSpecParser.toJson(spec);
        }
        return new BaseFileScanTask(file.copyWithoutStats(), deletes, schemaText, specText, residuals);
    }
}
