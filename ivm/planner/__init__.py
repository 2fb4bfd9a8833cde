"""The planner: from nodes to physical plans, over the arrangements that exist.

- `bounded_output`: foresight: which plans tell, before they run, how much their stages put out
- `cache`: the plans of a pool: what comes and goes is planned once and then only built
- `dispatch`: the planner: each node becomes stages of a physical plan, by the planner of its kind
- `input`: planning of inputs: a queue, and the arrangement of its rows by their primary key
- `join`: planning of joins: of two arrangements, and of many without intermediate state
- `linear`: planning of nodes without state: filters and maps as one program, projections, sums
- `monotonic`: which collections only grow: no row of theirs is ever retracted
- `planning`: planning of one dataflow: what every planner of a node asks for
- `recursion`: planning of recursion
- `reduce`: planning of reductions: which operator, and which format lets it stop early
- `stages`: what planning is made of: stages in the present scope, packings, exchanges, traces
- `temporal_filter`: planning of rows that wait for their moment
- `window`: planning of window functions
"""
