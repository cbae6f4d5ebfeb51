"""Saved queries of callers, from requests to a store.

What comes in are texts; they are checked for their size alone, and never run here. It imports the model, the
errors and the ports.
"""
