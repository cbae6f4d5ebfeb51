package sluice.catalogs;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;

/** A connection broke after a change was sent, so that nobody knows whether the database has applied it. */
final class ChangeSent extends SQLException {

    private static final long serialVersionUID = 1L;

    /** None of those for which Iceberg's pool tries again. */
    private static final String GENERAL_ERROR = "HY000";

    ChangeSent(SQLException cause) {
        super("The connection broke after a change was sent: " + cause.getMessage(), GENERAL_ERROR, cause);
    }

    /**
     * Whether this may be the cause of a failure. The pool raises the first failure of several: that a connection
     * was closed, and not that the next one broke.
     */
    static boolean isCauseOf(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof ChangeSent || each instanceof SQLNonTransientConnectionException) {
                return true;
            }
        }
        return false;
    }
}
