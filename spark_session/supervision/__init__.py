"""Whether the engine can still answer: what is known of one session comes in, a verdict goes out.

`SessionWatch` runs beside a warm session; `SparkEngine` asks it and acts.
"""
