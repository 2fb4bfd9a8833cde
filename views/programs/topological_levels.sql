-- Topological levels: for each node of a graph without cycles the longest path that leads to it.
--
-- On a cycle there is no longest path: the recursion then fails at its bound of rounds.
--
-- Differential dataflow (CIDR 2013), section 4.1 (FixedPoint), with the greatest value.
--
-- parameter: node = bigint
-- parameter: rounds = 1000
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (1, 3)
--   rows: (1, 0), (2, 1), (3, 2)
WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT $rounds)
level (node $node, longest bigint) AS (
    SELECT node, max(longest)
    FROM (
        SELECT src AS node, 0 AS longest
        FROM edges
        WHERE src IS NOT NULL AND dst IS NOT NULL
        UNION ALL
        SELECT e.dst, l.longest + 1
        FROM level l JOIN edges e ON e.src = l.node
        WHERE e.dst IS NOT NULL
    ) AS proposed
    GROUP BY node
)
SELECT node, longest FROM level
