"""Audits requests: finds what each one does, reserves a place for its event, and writes it at the end.

The input is a request whose principal is known, and its answer. The output is one event, unless a query was
accepted: its record becomes the event.
"""
