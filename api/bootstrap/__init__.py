"""Builds a gateway from its settings and parts.

It reads the environment, checks the settings, configures logs and traces, and returns a `Gateway` whose ports
are adapters. Adapters are named only by `components` and the modules `wiring…` here, and by the checks of
`api.cli`. The room imports nothing from `http` and `cli`; the function that reads a stream's stored body is
passed in.
"""
