"""Decodes bytes of any record format to rows by target; executors run it too.

The inputs are a stream or a part of a file, and a plan for each record. The outputs are Arrow rows by target,
and every record that does not fit, with its place and the reason. Bytes pass through `streams`, then through
the room of their format, which converts values with `values`. The package knows no catalog, and no tables
beyond the schemas in the plan, so that the gateway and executors decode alike.
"""
