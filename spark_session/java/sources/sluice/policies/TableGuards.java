package sluice.policies;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation;
import org.apache.spark.sql.catalyst.analysis.UpdateAttributeNullability$;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NullType$;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * Puts row filters and column masks between a query and its tables and views.
 *
 * A guarded table or view gets new columns. The nodes above it keep the columns that the query was analyzed with.
 * A mask that used the column's own identity would look to the optimizer like a projection without effect, and would
 * be dropped.
 */
public final class TableGuards {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Option NONE = Option.apply(null);
    private static final scala.collection.immutable.Seq NOTHING =
        CollectionConverters.asScala(new ArrayList()).toSeq();

    /**
     * Returns the query over its guarded tables and views. `restrictions` is JSON: for each place of a table or view
     * that is restricted, {"name": […], "path": [[…], …], "rowFilter": "region = 'A'" or null, "masks": {"card": "…"},
     * "isApart": whether the query must not see what the view's own conditions leave out}. `path` has the views around
     * it, the outermost first. Names are lists of parts, in lower case. `views` is JSON: the names of all views.
     */
    public Object guarded(Object session, Object dataset, String restrictions, String views) throws Exception {
        SparkSession spark = (SparkSession) session;
        ParserInterface parser = spark.sessionState().sqlParser();
        Map byPlace = new LinkedHashMap();
        boolean hasMask = false;
        List all = (List) MAPPER.readValue(restrictions, List.class);
        for (int i = 0; i < all.size(); i++) {
            Map texts = (Map) all.get(i);
            Restriction restriction = new Restriction(texts, parser);
            byPlace.put(place((List) texts.get("path"), (List) texts.get("name")), restriction);
            hasMask = hasMask || !restriction.masks.isEmpty();
        }
        Set viewNames = new HashSet((List) MAPPER.readValue(views, List.class));
        Guarding guarding = new Guarding(spark, byPlace, viewNames);
        LogicalPlan plan = ((Dataset) dataset).queryExecution().analyzed();
        LogicalPlan seen = guarding.guardedViews(plan, false);
        // The conditions of the views' own policies count, too. What a mask of a table computes is not known yet.
        boolean canFail = FailingExpressions.isAnyIn(seen);
        if (canFail || hasMask) {
            seen = guarding.guardedViews(plan, true);
        }
        LogicalPlan found = guarding.guardedTables(seen, canFail);
        if (guarding.isAnyUnguardedIn(found)) {
            throw new IllegalStateException("A table or view that has policies is read without its guard.");
        }
        return Dataset$.MODULE$.ofRows(spark, (LogicalPlan) UpdateAttributeNullability$.MODULE$.apply(found));
    }

    private static List place(List path, List name) {
        return Arrays.asList(new Object[] {path, name});
    }

    /** Returns the filter and masks over a new instance, which shows the columns of the table or view. */
    private static LogicalPlan guard(
            SparkSession spark, LogicalPlan table, LogicalPlan fresh, Restriction restriction, boolean canFail) {
        LogicalPlan rows = restriction.rowFilter == null ? fresh : new Filter(restriction.rowFilter, fresh);
        List columns = new ArrayList();
        for (int i = 0; i < list(table.output()).size(); i++) {
            Attribute shown = (Attribute) list(table.output()).get(i);
            Expression mask = (Expression) restriction.masks.get(shown.name().toLowerCase(Locale.ROOT));
            columns.add(named(mask == null ? (Expression) list(fresh.output()).get(i) : mask, shown));
        }
        LogicalPlan plan = new Project(CollectionConverters.asScala(columns).toSeq(), rows);
        LogicalPlan analyzed = Dataset$.MODULE$.ofRows(spark, plan).queryExecution().analyzed();
        Project masked = (Project) withTypes(analyzed, table);
        boolean isApart = restriction.rowFilter != null && (canFail || hasFailingMask(masked));
        return isApart ? new Project(masked.projectList(), apart(masked.child())) : masked;
    }

    private static boolean hasFailingMask(Project masked) {
        for (int i = 0; i < list(masked.projectList()).size(); i++) {
            if (FailingExpressions.canFail((Expression) list(masked.projectList()).get(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Keeps each expression of the query above the filters below, so that it never sees a row that they leave out.
     *
     * Spark moves no condition below a filter whose condition is not deterministic, and merges no filter with it.
     * This one is true for every row. A row filter stays below it, where the source gets it.
     */
    private static LogicalPlan apart(LogicalPlan rows) {
        Expression always = new GreaterThanOrEqual(new SparkPartitionID(), Literal$.MODULE$.apply(Integer.valueOf(0)));
        return new Filter(always, rows);
    }

    private static Alias named(Expression value, Attribute shown) {
        return new Alias(value, shown.name(), shown.exprId(), shown.qualifier(), Option.apply(shown.metadata()), NOTHING);
    }

    /** Masks keep their columns' types; NULL takes any. */
    private static LogicalPlan withTypes(LogicalPlan analyzed, LogicalPlan table) {
        Project project = (Project) analyzed;
        List columns = new ArrayList();
        for (int i = 0; i < list(table.output()).size(); i++) {
            Attribute shown = (Attribute) list(table.output()).get(i);
            Alias masked = (Alias) list(project.projectList()).get(i);
            DataType type = shown.dataType();
            if (masked.child().dataType() == NullType$.MODULE$) {
                columns.add(named(new Cast(masked.child(), type, NONE, Cast.apply$default$4()), shown));
            } else if (DataType.equalsIgnoreNullability(masked.child().dataType(), type)) {
                columns.add(masked);
            } else {
                throw new IllegalStateException(
                    "The mask of the column " + shown.name() + " is a " + masked.child().dataType().sql()
                    + ", and the column is a " + type.sql() + ".");
            }
        }
        return new Project(CollectionConverters.asScala(columns).toSeq(), project.child());
    }

    /** A mask may give NULL for a column that has none; these nodes say so by a copy of their columns. */
    private static LogicalPlan withNullableColumns(LogicalPlan node) {
        if (!(node instanceof CTERelationRef || node instanceof UnionLoopRef)) {
            return node;
        }
        Object[] arguments = new Object[node.productArity()];
        for (int i = 0; i < arguments.length; i++) {
            Object argument = node.productElement(i);
            arguments[i] = argument == node.output() ? nullable((scala.collection.Seq) argument) : argument;
        }
        return (LogicalPlan) node.makeCopy(arguments);
    }

    private static Object nullable(scala.collection.Seq columns) {
        return columns.map(new AbstractFunction1() {
            public Object apply(Object column) {
                return ((Attribute) column).withNullability(true);
            }
        });
    }

    /** What a principal sees of a table or view. Expressions of masks are by column, in lower case. */
    private static final class Restriction {
        private final Expression rowFilter;
        private final Map masks = new LinkedHashMap();
        private final boolean isApart;

        Restriction(Map texts, ParserInterface parser) throws Exception {
            String predicate = (String) texts.get("rowFilter");
            isApart = Boolean.TRUE.equals(texts.get("isApart"));
            rowFilter = predicate == null ? null : parser.parseExpression(predicate);
            java.util.Iterator entries = ((Map) texts.get("masks")).entrySet().iterator();
            while (entries.hasNext()) {
                Map.Entry mask = (Map.Entry) entries.next();
                masks.put(mask.getKey(), parser.parseExpression((String) mask.getValue()));
            }
        }
    }

    /** The guards of one query. */
    private static final class Guarding {
        private final SparkSession spark;
        private final Map byPlace;
        private final Set viewNames;
        private final Set guarded = Collections.newSetFromMap(new IdentityHashMap());

        Guarding(SparkSession spark, Map byPlace, Set viewNames) {
            this.spark = spark;
            this.byPlace = byPlace;
            this.viewNames = viewNames;
        }

        LogicalPlan guardedViews(LogicalPlan plan, boolean canFail) {
            return new ViewRewrite(this, canFail).in(plan, new ArrayList());
        }

        LogicalPlan guardedTables(LogicalPlan plan, boolean canFail) {
            return new TableRewrite(this, canFail).in(plan, new ArrayList());
        }

        LogicalPlan guardedTable(LogicalPlan node, Restriction restriction, boolean canFail) {
            LogicalPlan fresh = ((MultiInstanceRelation) node).newInstance();
            guarded.add(fresh);
            return guard(spark, node, fresh, restriction, canFail);
        }

        /** A view makes its columns itself, by a projection on top of its text. */
        LogicalPlan guardedView(LogicalPlan node, Restriction restriction, boolean canFail) {
            SubqueryAlias alias = (SubqueryAlias) node;
            Project columns = (Project) alias.child();
            List renewed = new ArrayList();
            for (int i = 0; i < list(columns.projectList()).size(); i++) {
                Alias column = (Alias) list(columns.projectList()).get(i);
                renewed.add(new Alias(
                    column.child(),
                    column.name(),
                    NamedExpression$.MODULE$.newExprId(),
                    column.qualifier(),
                    column.explicitMetadata(),
                    column.nonInheritableMetadataKeys()));
            }
            LogicalPlan fresh = new SubqueryAlias(
                alias.identifier(), new Project(CollectionConverters.asScala(renewed).toSeq(), columns.child()));
            guarded.add(fresh);
            LogicalPlan rows = restriction.isApart && canFail ? apart(fresh) : fresh;
            return guard(spark, node, rows, restriction, canFail);
        }

        boolean isAnyUnguardedIn(LogicalPlan plan) {
            Unguarded unguarded = new Unguarded(this);
            unguarded.collect(plan);
            return unguarded.isAny;
        }
    }

    private static List viewOf(LogicalPlan node, Set viewNames) {
        List name = RelationNames.viewOf(node);
        List lower = name == null ? null : RelationNames.inLowerCase(name);
        // The alias of a guarded table is over columns, too.
        return lower != null && viewNames.contains(lower) ? lower : null;
    }

    private static List tableOf(LogicalPlan node) {
        List name = RelationNames.nameOf(node);
        return name == null ? null : RelationNames.inLowerCase(name);
    }

    /** Rewrites each node of a plan and of the queries in it, after what is below it. */
    private abstract static class Rewrite {
        protected final Guarding guarding;
        protected final boolean canFail;

        Rewrite(Guarding guarding, boolean canFail) {
            this.guarding = guarding;
            this.canFail = canFail;
        }

        /** Returns what stands in the place of a node. `path` has the views around it. */
        abstract LogicalPlan rewritten(LogicalPlan node, List path);

        LogicalPlan in(LogicalPlan node, List path) {
            List view = viewOf(node, guarding.viewNames);
            List below = view == null ? path : PlanWalk.with(path, view);
            LogicalPlan found = (LogicalPlan) node.mapChildren(new InPlan(this, below));
            return rewritten((LogicalPlan) found.transformExpressionsUp(new InQuery(this, below)), path);
        }
    }

    private static final class ViewRewrite extends Rewrite {
        ViewRewrite(Guarding guarding, boolean canFail) {
            super(guarding, canFail);
        }

        LogicalPlan rewritten(LogicalPlan node, List path) {
            List view = viewOf(node, guarding.viewNames);
            Restriction found = view == null ? null : (Restriction) guarding.byPlace.get(place(path, view));
            return found == null ? node : guarding.guardedView(node, found, canFail);
        }
    }

    private static final class TableRewrite extends Rewrite {
        TableRewrite(Guarding guarding, boolean canFail) {
            super(guarding, canFail);
        }

        LogicalPlan rewritten(LogicalPlan node, List path) {
            List table = tableOf(node);
            Restriction found = table == null ? null : (Restriction) guarding.byPlace.get(place(path, table));
            return found == null ? withNullableColumns(node) : guarding.guardedTable(node, found, canFail);
        }
    }

    private static final class InPlan extends AbstractFunction1 {
        private final Rewrite rewrite;
        private final List path;

        InPlan(Rewrite rewrite, List path) {
            this.rewrite = rewrite;
            this.path = path;
        }

        public Object apply(Object plan) {
            return rewrite.in((LogicalPlan) plan, path);
        }
    }

    private static final class InQuery extends AbstractPartialFunction {
        private final Rewrite rewrite;
        private final List path;

        InQuery(Rewrite rewrite, List path) {
            this.rewrite = rewrite;
            this.path = path;
        }

        public boolean isDefinedAt(Object expression) {
            return expression instanceof PlanExpression;
        }

        public Object applyOrElse(Object expression, scala.Function1 otherwise) {
            if (!isDefinedAt(expression)) {
                return expression;
            }
            PlanExpression query = (PlanExpression) expression;
            return query.withNewPlan(rewrite.in((LogicalPlan) query.plan(), path));
        }
    }

    /** Whether a table or view that has a restriction is read by anything but its guard. */
    private static final class Unguarded extends PlanWalk {
        private final Guarding guarding;
        private boolean isAny;

        Unguarded(Guarding guarding) {
            this.guarding = guarding;
        }

        protected List viewOf(LogicalPlan node) {
            return TableGuards.viewOf(node, guarding.viewNames);
        }

        protected void visit(LogicalPlan node) {
            List view = viewOf(node);
            List name = view == null ? tableOf(node) : view;
            boolean isRestricted = name != null && guarding.byPlace.containsKey(place(path, name));
            isAny = isAny || (isRestricted && !isGuarded(node));
        }

        /** The analyzer may copy a node, but not its columns. */
        private boolean isGuarded(LogicalPlan node) {
            java.util.Iterator all = guarding.guarded.iterator();
            while (all.hasNext()) {
                if (((LogicalPlan) all.next()).sameOutput(node)) {
                    return true;
                }
            }
            return false;
        }
    }
}
