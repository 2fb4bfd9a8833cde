-- Weighted shortest paths: the least sum of weights on a path from a root to each node it reaches.
--
-- Edges with a weight below zero, NULL or NaN are left out: over a cycle of such there is no least.
--
-- K-Pg (2018), section 6.2, with weights; the rounds are those of Bellman and Ford.
--
-- parameter: node = bigint
-- parameter: number = bigint
-- reads: edges(src $node, dst $node, weight $number)
-- reads: roots(node $node)
-- key: node
-- example:
--   edges: (1, 2, 5), (1, 3, 1), (3, 2, 2), (2, 4, 1), (4, 1, -9)
--   roots: (1,)
--   rows: (1, 0), (2, 3), (3, 1), (4, 4)
WITH MUTUALLY RECURSIVE distance (node $node, cost $number) AS (
    SELECT node, min(cost)
    FROM (
        SELECT node, 0::$number AS cost FROM roots WHERE node IS NOT NULL
        UNION ALL
        SELECT e.dst, d.cost + e.weight
        FROM distance d JOIN edges e ON e.src = d.node
        WHERE e.dst IS NOT NULL AND e.weight >= 0 AND e.weight::double precision <> 'NaN'
    ) AS proposed
    GROUP BY node
)
SELECT node, cost FROM distance
