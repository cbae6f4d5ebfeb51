package sluice.reuse;

import static sluice.collections.Lists.list;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import sluice.statements.PlanVetting;

/**
 * Counts the aggregations of an analyzed query, and collects the names of the nodes that they read.
 *
 * <p>Common table expressions are followed from their references, each once, so the time does not depend on how often
 * they are named. Subqueries in expressions are left out.
 */
final class Aggregations {

    private final Set<LogicalPlan> found = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<String> below = new TreeSet<>();
    private final Map<Long, CTERelationDef> definitions = new HashMap<>();
    private final Set<Long> seenAbove = new HashSet<>();
    private final Set<Long> seenBelow = new HashSet<>();

    Aggregations(LogicalPlan plan) {
        add(plan, false);
    }

    private void add(LogicalPlan plan, boolean isBelow) {
        if (plan instanceof WithCTE with) {
            list(with.cteDefs()).forEach(definition -> definitions.put(definition.id(), definition));
            add(with.plan(), isBelow);
        } else if (plan instanceof CTERelationRef reference) {
            CTERelationDef definition = definitions.get(reference.cteId());
            if (definition == null) {
                below.add(PlanVetting.nameOf(plan));
            } else if ((isBelow ? seenBelow : seenAbove).add(definition.id())) {
                add(definition.child(), isBelow);
            }
        } else {
            if (isBelow) {
                below.add(PlanVetting.nameOf(plan));
            }
            boolean isAggregate = plan instanceof Aggregate;
            if (isAggregate) {
                found.add(plan);
            }
            list(plan.children()).forEach(child -> add(child, isBelow || isAggregate));
        }
    }

    int count() {
        return found.size();
    }

    Set<String> below() {
        return below;
    }
}
