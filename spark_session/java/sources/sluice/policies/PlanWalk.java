package sluice.policies;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** Visits each plan of a plan: some nodes keep one in a field that is not among their children. */
public abstract class PlanWalk {
    /** The names of the views around the visited node in lower case, the outermost first. */
    protected List path = new ArrayList();

    /** Sees one node. */
    protected abstract void visit(LogicalPlan node);

    /** Returns the name of the view that a node is, in lower case; null for other nodes. */
    protected abstract List viewOf(LogicalPlan node);

    /** Visits the plans of a value. */
    public void collect(Object value) {
        List above = path;
        if (value instanceof LogicalPlan) {
            visit((LogicalPlan) value);
            List view = viewOf((LogicalPlan) value);
            if (view != null) {
                path = with(above, view);
            }
        }
        // The rows of a relation hold no plans, and may be many.
        if (value instanceof scala.collection.Iterable) {
            collectAll(((scala.collection.Iterable) value).iterator());
        } else if (!(value instanceof LocalRelation)
                && (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product)) {
            collectAll(((scala.Product) value).productIterator());
        }
        path = above;
    }

    /** Returns the path of what is below a view. */
    public static List with(List path, List view) {
        List longer = new ArrayList(path);
        longer.add(view);
        return longer;
    }

    private void collectAll(scala.collection.Iterator values) {
        while (values.hasNext()) {
            collect(values.next());
        }
    }
}
