package sluice.sessions;

import java.util.Map;
import org.apache.iceberg.exceptions.ServiceUnavailableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Replaces a catalog that could not be opened. It fails each look-up of a table, and nothing else: Spark opens a
 * session's current catalog even for a query that reads no table.
 */
public final class MissingCatalog implements TableCatalog {

    private String name = "";

    /** Gives the catalog its name, and returns it. */
    MissingCatalog named(String given) {
        name = given;
        return this;
    }

    @Override
    public void initialize(String given, CaseInsensitiveStringMap options) {
        name = given;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Table loadTable(Identifier table) {
        throw missing();
    }

    @Override
    public Identifier[] listTables(String[] namespace) {
        throw missing();
    }

    @Override
    public Table createTable(
            Identifier table, StructType schema, Transform[] partitions, Map<String, String> properties) {
        throw missing();
    }

    @Override
    public Table alterTable(Identifier table, TableChange... changes) {
        throw missing();
    }

    @Override
    public boolean dropTable(Identifier table) {
        throw missing();
    }

    @Override
    public void renameTable(Identifier from, Identifier to) {
        throw missing();
    }

    private RuntimeException missing() {
        return new ServiceUnavailableException("Catalog %s could not be opened", name);
    }
}
