package sluice.policies;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.parts;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Product;

/** Visits each plan of a plan: some nodes keep one in a field that is not among their children. */
abstract class PlanWalk {

    private List<List<String>> path = List.of();

    /** Sees one node. */
    protected abstract void visit(LogicalPlan node);

    /** Returns the name of the view that a node is, in lower case; null for other nodes. */
    protected abstract List<String> viewOf(LogicalPlan node);

    /** Returns the names of the views around the visited node in lower case, the outermost first. */
    protected final List<List<String>> path() {
        return path;
    }

    /** Visits the plans of a value. */
    final void collect(Object value) {
        List<List<String>> above = path;
        if (value instanceof LogicalPlan node) {
            visit(node);
            List<String> view = viewOf(node);
            if (view != null) {
                path = with(above, view);
            }
        }
        // The rows of a relation hold no plans, and may be many.
        if (value instanceof scala.collection.Iterable<?> values) {
            collectAll(iterable(values));
        } else if (value instanceof Product product && !(value instanceof LocalRelation)) {
            collectAll(parts(product));
        }
        path = above;
    }

    /**
     * Returns the path of what is below a view.
     *
     * <p>A view of the session catalog stands below an alias with its name. No view reads itself, so it is once there.
     */
    static List<List<String>> with(List<List<String>> path, List<String> view) {
        if (isIn(path, view)) {
            return path;
        }
        List<List<String>> longer = new ArrayList<>(path);
        longer.add(view);
        return longer;
    }

    /** Whether a view is the nearest one of this path. */
    static boolean isIn(List<List<String>> path, List<String> view) {
        return !path.isEmpty() && path.get(path.size() - 1).equals(view);
    }

    private void collectAll(Iterable<?> values) {
        for (Object value : values) {
            collect(value);
        }
    }
}
