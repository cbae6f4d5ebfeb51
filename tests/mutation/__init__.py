"""`make mutate`: changes single places of the code, and counts the changes that unit tests notice."""
