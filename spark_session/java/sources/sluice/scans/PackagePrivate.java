package sluice.scans;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Reaches members of Iceberg's and Spark's classes that are not public. */
public final class PackagePrivate {

    private PackagePrivate() {}

    /** Returns the method without parameters of this name; null if neither the class nor one above it has one. */
    public static Method method(Class<?> owner, String name) {
        for (Class<?> type = owner; type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        return null;
    }

    /** Calls the method without parameters of this name. */
    public static Object call(Object target, String name) throws ReflectiveOperationException {
        Method method = method(target.getClass(), name);
        if (method == null) {
            throw new NoSuchMethodException(name);
        }
        return method.invoke(target);
    }

    /** Returns the value of the field; null also if neither the class nor one above it has it. */
    public static Object field(Object target, String name) throws ReflectiveOperationException {
        for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field.get(target);
                }
            }
        }
        return null;
    }
}
