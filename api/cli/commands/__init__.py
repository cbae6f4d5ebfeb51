"""What each `sluice` command does. A module is imported when its command runs, so that `--help` is quick."""
