"""The planner: from nodes to physical plans, over the arrangements that exist.

- `bounded_output`: finds the plans that bound the output of their stages before they run
- `bounded_rows`: plans comparisons of rows with the one row of a sum, without pairs
- `cache`: keeps a pool's plans, so that a dataflow that comes and goes is planned once
- `dispatch`: makes stages of each node, by the planner of its kind
- `exchange`: plans exchanges between processes: nothing on one, a meeting where there are more
- `input`: plans inputs: a queue, and the arrangement of its rows by their primary key
- `join`: plans joins: of two arrangements, and of many without intermediate state
- `linear`: plans nodes without state: filters and maps as one program, projections, sums
- `monotonic`: finds the collections that only grow: no row of theirs is ever retracted
- `planning`: the planning of one dataflow: the state that the planners of all its nodes share
- `recursion`: plans a loop's stages in a scope of its own, one coordinate of time deeper
- `reduce`: plans reductions: chooses the operator, and the format that lets it stop early
- `stages`: steps of planning: stages in the present scope, packings, exchanges, traces
- `temporal_filter`: plans rows that wait for their moment
- `window`: plans window functions: the places of their arguments, a kernel for each call
"""
