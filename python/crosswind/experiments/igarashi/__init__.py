"""The experiments of [Igarashi 2007]: fast long paths, assured forwarding across domains, early discard for real
time.

One file per experiment, named after the number that our summary of the source gives it (`e6_1` is E6.1). `study`
declares one; `assured` is the testbed of chapter 6, `discard` that of chapter 7.
"""
