"""One module for each `sluice` command. It is imported when its command runs, so that `--help` is quick."""
