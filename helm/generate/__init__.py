"""Writes the parts of the chart that follow from the gateway's settings and from the chart's own values.

Input is `api.bootstrap.settings` and `helm/sluice/values.yaml`; output is a template, a part of the values'
schema, and the README. `make chart` runs it, and a test asserts that the checked-in files are its output.
"""
