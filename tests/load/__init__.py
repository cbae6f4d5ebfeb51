"""Mixed load on one gateway for half an hour: its answers, the stored data and its memory."""
