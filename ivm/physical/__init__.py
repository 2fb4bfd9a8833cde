"""Physical plans: the stages of a dataflow with every decision made, and their construction.

- `arrangement`: the layout of an arrangement's rows, and the places of their columns
- `build`: makes a physical plan's stages into operators, one for each shard
- `loop_operations`: operations of loops
- `operation`: the base of operations: the work of a stage as a typed value with a text form
- `operations`: operations that several planners make: inputs, programs, arrangements, captures
- `plan`: the plan of one collection, decided once and built as often as it is wanted
- `reduce_operations`: operations of reductions, and the logic of their groups
- `scopes`: the root, and one scope for each loop that is being planned
- `text`: prints a physical plan: its stages, by the arrangements that they make
"""
