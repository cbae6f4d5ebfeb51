"""Who runs next: resource groups, their limits, budgets and shares, as a pure machine.

Input is queries as keys with a group, what their plans will read, and the time in milliseconds. Output is
which query may be planned, may run, has to wait (and where), or is refused. Nothing here knows a thread, a
clock or an engine. The room imports `service.model` and `service.errors`.
"""
