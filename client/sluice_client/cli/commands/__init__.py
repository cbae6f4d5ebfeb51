"""The arguments of each command, in a module each.

The gateway's `sluice` finds them by the entry points of the package.
"""
