"""The driver's JVM: launched, called, and forgotten once it is dead.

Input is calls; output is their answers, or the news that the JVM is gone. Our few Java classes, whose sources
are in `resources`, are compiled here when they are first used. The room imports `settings` and `resources`.
"""
