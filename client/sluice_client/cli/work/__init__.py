"""The work of each command: a session and arguments come in; requests, output and an exit code go out."""
