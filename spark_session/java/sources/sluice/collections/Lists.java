package sluice.collections;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import scala.Option;
import scala.Product;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.jdk.javaapi.OptionConverters;

/** Scala's collections as Java's, and back. */
public final class Lists {

    private Lists() {}

    /** Returns a view of the sequence. */
    public static <T> List<T> list(scala.collection.Seq<T> values) {
        return CollectionConverters.asJava(values);
    }

    /** Returns the last value of a sequence that has one. */
    public static <T> T last(scala.collection.Seq<T> values) {
        List<T> all = list(values);
        return all.get(all.size() - 1);
    }

    /** Returns a view of the values. */
    public static <T> Iterable<T> iterable(scala.collection.Iterable<T> values) {
        return CollectionConverters.asJava(values);
    }

    /** Returns the values of a node's or another product's fields. */
    public static Iterable<Object> parts(Product product) {
        return () -> CollectionConverters.asJava(product.productIterator());
    }

    /** Returns a view of the map. */
    public static <K, V> Map<K, V> map(scala.collection.Map<K, V> values) {
        return CollectionConverters.asJava(values);
    }

    /** Returns the same option. */
    public static <T> Optional<T> optional(Option<T> value) {
        return OptionConverters.toJava(value);
    }

    /** Returns an immutable copy of the values. */
    public static <T> Seq<T> seq(List<? extends T> values) {
        return CollectionConverters.asScala(Collections.<T>unmodifiableList(values).iterator()).toSeq();
    }
}
