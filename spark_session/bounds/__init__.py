"""Bounds on the sizes that Spark can make of a small text.

Input is a statement as the JVM reads it (`StatementReader.java`, `CallReader.java`, `PlanSizes.java`) and
`QueryBounds`. The result is nothing, or a `CallerError` that names the function, clause or option, and its
bound. Imports the service's errors and model only, so all of it is tested without Spark.
"""
