"""Values about dynamic filters: candidates, keys, inputs of predicates, and reasons.

Detection, collection and the cache share these frozen values: the scan that a filter is for, the keys that
were collected, the values that the probe's files can hold, and why a filter was not applied. The room imports
`tables`.
"""
