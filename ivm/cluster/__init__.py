"""A cluster: a pool whose keys are divided among processes, which run the same dataflows.

Each *member* owns the keys whose hash falls to it, and meets the others wherever rows have to move
to the owners of another key. Members run wherever they are started; they come to the rendezvous of
their pool. A lost one takes the pool with it.

- `beside`: a dataflow that catches up on a thread of its own, while its member obeys commands
- `calls`: calls of a cluster to its members, in one order, and reads beside them
- `credentials`: by what the processes of a cluster know each other, and encrypt if they do
- `dealing`: brings rows to the members that own them, from whichever process has them
- `distributing`: a member's pool, which decides for all where rows have to move
- `hello`: the first message of a member, which every release can read
- `identity`: what has to be the same in all members
- `lending`: a member's pool, which lends its cluster holds and batches by number
- `lent`: holds and batches that stay with members, as the cluster has them
- `links`: connections between processes that have the credentials of a cluster
- `member`: a pool that carries out the commands of its cluster
- `merging`: the parts of an answer that members give, put together
- `mesh`: a connection between each two members, over which they meet
- `parcels`: rows that come to the members that own them, ahead of the commands that use them
- `pool`: the pool of a cluster, which sends every command to all members in one order
- `processes`: a cluster of processes of this machine
- `pulse`: finds out when a member has gone, or stands still
- `rendezvous`: where members come, and are told of one another
- `replies`: replies of members, whose errors keep their kinds and reasons
"""
