"""Mixed load on one gateway for half an hour: what it answers, what it keeps, how much memory it takes."""
