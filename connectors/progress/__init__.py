"""Progress: logical times, and the durable journal that ties them to input offsets.

- `assign`: gives decoded chunks their logical times: each record once, under one time for ever
- `batches`: the updates of one logical time, over all tables
- `journal`: ties each logical time to input offsets, durably
- `resolution`: divides a cut into logical times: by batch, record or transaction
"""
