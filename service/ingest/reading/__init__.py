"""From bytes of any record format to rows by target; knows no catalog, and executors run it too."""
