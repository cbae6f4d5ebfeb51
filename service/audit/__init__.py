"""Audits what callers do: turns requests and records into events, and brings the events to the log.

The input is the requests of the HTTP edge, and the records of queries and ingests. The output is events in
the `AuditLog`. A bounded buffer lies in between.
"""
