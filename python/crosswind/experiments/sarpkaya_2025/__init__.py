"""The rows of [Sarpkaya 2025]: Prague beside classic flows in one bottleneck, measured between virtual machines.

`study` makes a claim of each row; `pairs` has one flow beside one, `groups` several beside several.
"""
