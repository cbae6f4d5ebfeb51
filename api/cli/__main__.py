"""`python -m api.cli` is `sluice`."""

from api.cli import main

main()
