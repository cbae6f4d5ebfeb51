"""The driver's JVM: launched, called, and forgotten once it is dead.

Input is calls; output is their answers, or the news that the JVM is gone. The sources of our own Java
classes are in the folder `sources`, with a package for each purpose; `jars` compiles them. The room imports
`settings` and `resources`.
"""
