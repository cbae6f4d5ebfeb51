"""What `sluice doctor` looks at on this machine, and how it reports.

Settings and folders come in, and `Found` values go out; `report` makes a table or JSON of all findings.
Adapters are named in `api.cli.wiring_doctor` alone, which puts the checks together. Modules here import
`api.cli.checks`, `api.bootstrap.settings`, and the service's model and errors.
"""
