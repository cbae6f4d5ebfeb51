"""Whether the engine can still answer: takes the signs of one session, returns a verdict.

`SessionWatch` runs beside a warm session; `SparkEngine` asks it and acts.
"""
