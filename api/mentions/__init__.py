"""The mentions' demonstration: strongly connected components of a window that moves both ways.

Users who mention one another, and the top hashtag of each component, as in the demonstration of
differential dataflow (CIDR 2013, appendix).

- `board`: folds the delta topic as it grows, and measures when each step of the window is in it
- `command`: `ivm mentions`, where there is a demo: in a checkout
- `course`: moves the window: forward, back by half of the way, forward again
- `errors`: errors of the mentions' demonstration
- `frontiers`: the input offsets that frontier records of delta topics say are reflected
- `judge`: compares the delta topics at random cuts with networkx over the input topics alone
- `report`: figures of a run, as a table for people and as JSON for programs
- `run`: the steps: start, load, move the window at a pace, verify
- `screen`: the live terminal: the window, its largest components, latencies and lag
- `stream`: mentions in seconds, made at random or read from a file
- `views`: the demonstration's tables and views
"""
