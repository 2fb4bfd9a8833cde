"""Progress: logical times, and the durable journal that ties them to input offsets.

- `assign`: gives decoded chunks their logical times: each record once, under one time for ever
- `batches`: what the pipeline hands over: the updates of one logical time, over all tables
- `journal`: the journal of progress
- `resolution`: finer than a batch: which records of one cut get a logical time of their own
"""
