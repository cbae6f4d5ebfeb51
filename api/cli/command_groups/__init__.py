"""The commands that belong together under one name, such as `sluice keys list`: their arguments alone.

A module has one group. It imports the command's work from `commands` when the command runs, so that `--help`
is quick.
"""
