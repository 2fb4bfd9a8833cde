-- Strongly connected components: the edges on cycles, with the least node of their component.
--
-- Labels go forward from every node until nothing changes, and edges between different labels are
-- cut; the same is done backwards over what is left, and both are repeated until nothing is cut:
-- loops in a loop. Nodes are numbers; small labels set out first.
--
-- Differential dataflow (CIDR 2013), sections 3.3 and 5.2 and the appendix; Naiad (CACM 2016),
-- figure 7.
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- key: src, dst
-- example:
--   edges: (1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3), (6, 1)
--   rows: (1, 2, 1), (2, 1, 1), (3, 4, 3), (4, 5, 3), (5, 3, 3)
WITH
    graph AS (SELECT DISTINCT src, dst FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL),
    found AS (
        WITH MUTUALLY RECURSIVE cut (src $node, dst $node) AS (
            WITH
                alive AS (SELECT src, dst FROM graph EXCEPT SELECT src, dst FROM cut),
                forward AS (
                    WITH MUTUALLY RECURSIVE label (node $node, least $node)
                        PRIORITY BY ceil(ln(greatest(least, 1)))::bigint
                    AS (
                        SELECT node, min(least)
                        FROM (
                            SELECT dst AS node, dst AS least FROM graph
                            UNION ALL
                            SELECT src, src FROM graph
                            UNION ALL
                            SELECT e.dst, l.least FROM label l JOIN alive e ON e.src = l.node
                        ) AS proposed
                        GROUP BY node
                    )
                    SELECT node, least FROM label
                ),
                kept AS (
                    SELECT e.src, e.dst
                    FROM alive e
                    JOIN forward s ON s.node = e.src
                    JOIN forward d ON d.node = e.dst
                    WHERE s.least = d.least
                ),
                backward AS (
                    WITH MUTUALLY RECURSIVE label (node $node, least $node)
                        PRIORITY BY ceil(ln(greatest(least, 1)))::bigint
                    AS (
                        SELECT node, min(least)
                        FROM (
                            SELECT dst AS node, dst AS least FROM graph
                            UNION ALL
                            SELECT src, src FROM graph
                            UNION ALL
                            SELECT e.src, l.least FROM label l JOIN kept e ON e.dst = l.node
                        ) AS proposed
                        GROUP BY node
                    )
                    SELECT node, least FROM label
                ),
                cyclic AS (
                    SELECT e.src, e.dst
                    FROM kept e
                    JOIN backward s ON s.node = e.src
                    JOIN backward d ON d.node = e.dst
                    WHERE s.least = d.least
                )
            SELECT src, dst FROM graph EXCEPT SELECT src, dst FROM cyclic
        )
        SELECT src, dst FROM graph EXCEPT SELECT src, dst FROM cut
    ),
    component AS (
        WITH MUTUALLY RECURSIVE label (node $node, least $node)
            PRIORITY BY ceil(ln(greatest(least, 1)))::bigint
        AS (
            SELECT node, min(least)
            FROM (
                SELECT src AS node, src AS least FROM found
                UNION ALL
                SELECT e.dst, l.least FROM label l JOIN found e ON e.src = l.node
            ) AS proposed
            GROUP BY node
        )
        SELECT node, least FROM label
    )
SELECT f.src, f.dst, c.least AS component FROM found f JOIN component c ON c.node = f.src
