"""The parts that a gateway stands on: stores, jars, clocks, and all that is started on first use.

In come the settings; out come `Components`. The room waits for stores that are not up yet.
"""
