package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.iceberg.exceptions.ServiceUnavailableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.junit.jupiter.api.Test;

final class MissingCatalogTest {

    private final MissingCatalog catalog = new MissingCatalog().named("lake");
    private final Identifier table = Identifier.of(new String[] {"shop"}, "item");

    @Test
    void itHasItsNameAndNoTable() {
        assertEquals("lake", catalog.name());
        Exception failure = assertThrows(ServiceUnavailableException.class, () -> catalog.loadTable(table));
        assertEquals("Catalog lake could not be opened", failure.getMessage());
    }

    @Test
    void noChangeIsPossible() {
        assertThrows(ServiceUnavailableException.class, () -> catalog.dropTable(table));
        assertThrows(ServiceUnavailableException.class, () -> catalog.renameTable(table, table));
        assertThrows(ServiceUnavailableException.class, () -> catalog.listTables(new String[] {"shop"}));
    }
}
