"""The library of programs: well-known recursive and graph computations, ready to be views.

    from views.programs import load
    query = load("bfs").query({"edges": "follows,src=follower,dst=followee", "roots": "start"})

Each program is one file, in the language that says it best, whose comment tells its meaning, its
source, its parameters, the tables that it reads and an example; see `library`.

- `library`: reads the programs and puts a user's tables and values into them
"""

from views.programs.library import Program, load, names

__all__ = ["Program", "load", "names"]
