package sluice.catalogs;

import java.sql.SQLException;

/** A connection broke after a change was sent, so that nobody knows whether the database has applied it. */
final class ChangeSent extends SQLException {

    private static final long serialVersionUID = 1L;

    /** None of those for which Iceberg's pool tries again. */
    private static final String GENERAL_ERROR = "HY000";

    ChangeSent(SQLException cause) {
        super("The connection broke after a change was sent: " + cause.getMessage(), GENERAL_ERROR, cause);
    }

    /** Whether this is what has caused a failure. */
    static boolean isCauseOf(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof ChangeSent) {
                return true;
            }
        }
        return false;
    }
}
