"""The checks of `sluice doctor` on this machine, and its report.

They take settings and folders, and return `Found` values; `report` makes a table or JSON of all findings.
Only `api.cli.wiring_doctor`, which puts the checks together, names adapters. Modules here import
`api.cli.part_checks`, `api.bootstrap.settings`, `api.http.tls`, and the service's model and errors.
"""
