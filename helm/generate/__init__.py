"""Writes the parts of the chart that follow from the gateway's settings and from the chart's own values.

In come `api.bootstrap.settings` and `helm/sluice/values.yaml`; out go a template, a part of the values'
schema, and the README. `make chart` runs it, and a test asserts that what is checked in is what it writes.
"""
