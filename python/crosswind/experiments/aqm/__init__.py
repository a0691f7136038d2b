"""What suites and papers say of queues, from 2012 to today; statements of abstracts where no more was read.

`study` declares; `suite` has a run of ns-3's suite, `delays` PIE and CoDel by target and round trip, `matrix` the
cases of RFC 7928, `sparse` calls in FQ-CoDel, `linear` PI2, `cake` CAKE.
"""
