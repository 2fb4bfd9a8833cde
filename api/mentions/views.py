"""The demonstration's tables and views.

The window is a table of the seconds in it: a step forward or backward takes one row out and puts
another one in, a change as any other, which costs what it moves and not what the window holds.
"""

from collections.abc import Mapping
from typing import Any

from views.programs import load

MENTIONS = "mentions"
WINDOW = "mentions_window"
SCC = load("scc")

SOURCES: Mapping[str, Mapping[str, Any]] = {
    MENTIONS: {
        "envelope": "append",
        "columns": [
            {"name": "author", "type": "bigint", "nullable": False},
            {"name": "mentioned", "type": "bigint", "nullable": False},
            {"name": "tag", "type": "text"},
            {"name": "second", "type": "bigint", "nullable": False},
        ],
        "key": [],
    },
    WINDOW: {
        "envelope": "flat",
        "columns": [{"name": "second", "type": "bigint", "nullable": False}],
        "key": ["second"],
    },
}

RECENT = "mentions_recent"
COMPONENTS = "mentions_components"
TOPICS = "mentions_topics"

VIEWS: Mapping[str, Mapping[str, Any]] = {
    RECENT: {
        "query": f"""
            SELECT m.author, m.mentioned, m.tag
            FROM {MENTIONS} m JOIN {WINDOW} w ON w.second = m.second
        """,
        "key": ["author"],
    },
    COMPONENTS: {
        "query": SCC.query({"edges": f"{RECENT},src=author,dst=mentioned"}),
        "key": ["src", "dst"],
    },
    TOPICS: {
        "query": f"""
            WITH
                members AS (SELECT DISTINCT src AS node, component FROM {COMPONENTS}),
                sizes AS (SELECT component, count(*) AS members FROM members GROUP BY component),
                counted AS (
                    SELECT m.component, r.tag, count(*) AS uses
                    FROM {RECENT} r JOIN members m ON m.node = r.author
                    WHERE r.tag IS NOT NULL
                    GROUP BY m.component, r.tag
                ),
                top AS (
                    SELECT DISTINCT ON (component) component, tag, uses
                    FROM counted
                    ORDER BY component, uses DESC, tag
                )
            SELECT s.component, s.members, t.tag, t.uses
            FROM sizes s LEFT JOIN top t ON t.component = s.component
        """,
        "key": ["component"],
    },
}
