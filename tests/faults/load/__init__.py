"""The load of the fault matrix: a broker, the service, changes that go on, and what must hold.

`shop` makes the changes, `views` are what is maintained, in SQL and in plain Python; `system` runs
it all, and `criteria` judges what a reader of committed messages sees.
"""
