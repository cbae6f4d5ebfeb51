"""What the gateway counts and records about itself.

Counters count what passes, in this process, from its start. Each collector knows one part and reads its
numbers when somebody asks for `/metrics`; it asks nobody else. Query records wait here for the metrics
store while that is down. The room imports `lineage`, whose events it counts.
"""
