"""What a gateway is built from: its settings, its parts, and how they are wired.

In comes the environment; out go checked settings, configured logs and traces, and a `Gateway` whose ports
are adapters. Only `parts` and the modules `wiring…` here, and the checks of `api.cli`, name adapters. The
room imports nothing of `http` and `cli`; what reads a stream's stored body is handed in.
"""
