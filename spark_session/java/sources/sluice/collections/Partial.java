package sluice.collections;

import java.util.function.Function;
import java.util.function.Predicate;
import scala.PartialFunction;

/** Scala's partial functions, from Java's functions. */
public final class Partial {

    private Partial() {}

    /** Returns a function of the values that satisfy the condition. */
    public static <A, B> PartialFunction<A, B> where(Predicate<A> condition, Function<A, B> function) {
        return new PartialFunction<>() {
            @Override
            public boolean isDefinedAt(A value) {
                return condition.test(value);
            }

            @Override
            public B apply(A value) {
                return function.apply(value);
            }
        };
    }
}
