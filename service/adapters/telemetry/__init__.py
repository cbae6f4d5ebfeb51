"""The gateway's own metrics and records.

Counters count events in this process, from its start. Each collector covers one part: it reads the part's
numbers for a request of `/metrics`, and calls no other part. Query records wait here for the metrics store
while that is down. The room imports `lineage`, whose events it counts.
"""
