"""The demo: a shop and a follower graph as change data, five views, a kill, and a judge."""
