"""Principals, their API keys, and the access tokens of issuers.

The input is texts and claims that adapters have parsed. The output is values that say who calls. Modules here
may import the classes of callers and the errors, nothing else.
"""
