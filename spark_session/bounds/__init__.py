"""Bounds on what Spark makes of a small text.

A statement comes in as the JVM reads it (`StatementReader.java`, `CallReader.java`, `PlanSizes.java`), and
`QueryBounds` say what is allowed. Out goes nothing, or a `CallerError` that names the function, clause or
option, and its bound. Imports the service's errors and model only, so all of it is tested without Spark.
"""
