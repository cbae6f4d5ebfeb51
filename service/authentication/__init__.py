"""Decides about credentials: which API keys and signing keys count, and how often attempts failed.

The input is ids of keys, addresses, and the answers of ports. The output is keys, or the ids that a port has
to be asked for. Most of this runs on the event loop's thread and never blocks. The caller asks the ports.
"""
