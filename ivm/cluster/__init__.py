"""A cluster: a pool whose keys are divided among processes, which run the same dataflows.

Each *member* owns the keys whose hash falls to it, and meets the others wherever rows have to move
to the owners of another key. It is for one machine as yet: nothing places members elsewhere, and
nothing starts one anew that was lost.

- `member`: a member's process: a pool that carries out the commands of its cluster
- `merging`: the parts of an answer that members give, put together
- `mesh`: a connection between each two members, over which they meet
- `pool`: the pool of a cluster, which sends every command to all members in one order
- `replies`: replies of members, whose errors keep their kinds and reasons
"""
