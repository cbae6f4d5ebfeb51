"""Decisions on SQL, each with its reason, for all that the pinned Spark can read.

Tables are data: functions, plan nodes, expressions, hints and read options. A test compares them with
Spark's own registries and classes, so that a new version of Spark cannot bring anything undecided. Imports
the service's errors and model only, so all of it is tested without Spark.
"""
