package sluice.manifests;

import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.TableMetadata;

/**
 * A table with all that its entries depend on, besides their manifest.
 *
 * <p>Tables that were registered from the same metadata have one UUID. Later, each numbers its own schemas. So the
 * types of the partition values belong to it, by partition spec.
 */
record TableState(String uuid, int schema, String partitions) {

    static TableState of(TableMetadata metadata) {
        Map<Integer, String> types = new TreeMap<>();
        metadata.specsById().forEach((id, spec) -> types.put(id, spec.rawPartitionType().toString()));
        return new TableState(metadata.uuid(), metadata.currentSchemaId(), types.toString());
    }
}
