"""A fuzzer of the front-ends: whatever the text, a view or a kind of IvmError, and soon.

`python -m tests.fuzz --inputs 1000000` searches; `test_fuzz` is its short form. An input is made of
its language, a seed and its number alone, so that a finding can be made again.
"""
