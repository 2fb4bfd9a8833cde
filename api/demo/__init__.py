"""The demo: change data of a shop and a follower graph, five views, a kill, and a verification."""
