"""Long runs: memory, files and latency stay as they are however much has gone through.

- `__main__`: very many updates through a pool
- `service`: a steady load on the whole service
- `memory`: the memory that a process holds
- `trend`: whether a figure grows
"""
