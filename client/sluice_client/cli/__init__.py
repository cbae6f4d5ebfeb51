"""The command line: `sluice query`, `ingest`, `explain`, `tables`, `status`, `cancel`, `top`, `completion`.

Arguments, files and the configuration of profiles come in. Text for people, data for programs and an exit
code go out. `commands` has the arguments alone, and imports the rest of this room when a command runs. So
`--help` is quick, and a query whose output is text does not import Arrow.
"""
