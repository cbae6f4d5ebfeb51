"""From bytes of any record format to rows by target; executors run it too.

In comes a stream or a file part, and a plan that says what is made of each record; out go Arrow rows by
target and every record that does not fit, with its place and its reason. Bytes go through `streams`, then
through the room of their format, which makes its values with `values`. The package knows no catalog and no
tables beyond the schemas in the plan, so that the gateway and executors decode alike.
"""
