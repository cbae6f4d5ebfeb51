package sluice.catalogs;

import org.apache.iceberg.TableOperations;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.jdbc.JdbcCatalog;

/**
 * Iceberg's JDBC catalog, but a change is sent to the database once.
 *
 * <p>Iceberg's sends it again if the connection breaks. If the database had applied the first one, the second one
 * finds no row to change, and Iceberg takes that for a commit of somebody else: a MERGE then conflicts with itself,
 * and the files of its commit are deleted while the table has them.
 */
public final class SqlCatalog extends JdbcCatalog {

    /** Called by its name, as `catalog-impl`. */
    public SqlCatalog() {
        super(null, SentOncePool::of, true);
    }

    @Override
    protected TableOperations newTableOps(TableIdentifier table) {
        return new SentCommits(super.newTableOps(table));
    }
}
