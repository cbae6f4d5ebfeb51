"""Saved queries of callers, from requests to a store.

Texts come in. They are checked for their size alone, and never run here. It imports the model, the
errors and the ports.
"""
