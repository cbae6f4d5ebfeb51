"""The external parts that the gateway needs: small Protocols, named for the need.

A room for each kind of part that stands behind them: the engine, tables and their files, filters, stores,
and telemetry. Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes`
pass the same contract suite. Only `api.bootstrap` brings them together. The room imports the model and the
errors.
"""
