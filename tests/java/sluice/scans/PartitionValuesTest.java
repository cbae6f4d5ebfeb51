package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.json;

import java.util.List;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

final class PartitionValuesTest {

    private static final StructType TYPES = new StructType()
        .add("day", DataTypes.DateType)
        .add("rate", DataTypes.DoubleType)
        .add("city", DataTypes.StringType);

    @Test
    void valuesAreThoseOfTheNames() {
        PartitionValues values = new PartitionValues(3);
        values.take(seq(List.of(
            "day=2026-01-31/rate=0.5/city=Ulm",
            "day=2026-02-01/rate=1.0/city=__HIVE_DEFAULT_PARTITION__",
            "day=2026-01-31/rate=1.0/city=a%2Fb")), TYPES);
        assertEquals(
            "{\"day\":[\"2026-01-31\",\"2026-02-01\"],\"city\":[\"Ulm\",null,\"a/b\"]}", json(values.found()));
    }

    @Test
    void tooManyPartitionsHaveNoValues() {
        PartitionValues values = new PartitionValues(1);
        values.take(seq(List.of("day=2026-01-31/city=Ulm", "day=2026-02-01/city=Ulm")), TYPES);
        assertEquals("{}", json(values.found()));
    }

    @Test
    void nothingIsFoundBeforeAListing() {
        assertNull(new PartitionValues(1).found());
    }
}
