package sluice.catalogs;

import java.sql.Connection;
import java.util.Map;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.jdbc.JdbcClientPool;

/** Connections that send no change twice. The pool repeats everything else on a new connection. */
final class SentOncePool extends JdbcClientPool {

    private SentOncePool(Map<String, String> properties) {
        super(properties.get(CatalogProperties.URI), properties);
    }

    static SentOncePool of(Map<String, String> properties) {
        return new SentOncePool(properties);
    }

    @Override
    protected Connection newClient() {
        return SentOnce.over(super.newClient());
    }
}
