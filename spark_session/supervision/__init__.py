"""Whether the engine can still answer: takes the signs of one session, returns a verdict.

`SessionWatch` runs beside a warm session. `SessionKeeper` asks it, and starts another session when this one
is lost. The room imports `session` and what lies below it.
"""
