"""Runs the client's command line: `python -m sluice_client`."""

from __future__ import annotations

from sluice_client.cli.command_line import main

if __name__ == "__main__":
    main()
