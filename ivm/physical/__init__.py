"""Physical plans: the stages of a dataflow with every decision made, and their construction.

- `arrangement`: how rows lie in arrangements, and how an arrangement's columns become those of …
- `build`: building: a physical plan's stages made into operators, one for each shard
- `loop_operations`: the operations of planned stages in which time counts
- `operation`: operations: what the stages of a physical plan do, as typed values with a text form
- `operations`: the operations of stages that keep no state but traces; each is named for its node
- `plan`: physical plans
- `reduce_operations`: the operations of reductions
- `scopes`: scopes while planning: the root, and one for each loop that is being planned
- `text`: the text of a physical plan: its stages, by the arrangements that they make
"""
