-- Gather, apply, scatter: a vertex program as a pattern, here the heat that vertices exchange.
--
-- Gather sums what comes along the edges into a vertex, apply computes the vertex's next value of
-- its own and of that sum, scatter sends the value along the edges out. Put another sum, formula or
-- message in the three places, and it is another vertex program.
--
-- Naiad (CACM 2016), "Graph processing" (the GAS abstraction).
--
-- parameter: node = bigint
-- parameter: rounds = 10
-- reads: edges(src $node, dst $node)
-- reads: vertices(node $node, heat bigint)
-- key: node
-- example:
--   edges: (1, 2), (2, 3)
--   vertices: (1, 800), (2, 0), (3, 0)
--   rounds: 3
--   rows: (1, 800), (2, 400), (3, 200)
WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT $rounds)
    gathered (node $node, total bigint) AS (
        SELECT dst, sum(message)::bigint FROM scattered WHERE dst IS NOT NULL GROUP BY dst
    ),
    applied (node $node, heat bigint) AS (
        SELECT v.node, v.heat + coalesce(g.total, 0) / 2
        FROM vertices v LEFT JOIN gathered g ON g.node = v.node
        WHERE v.node IS NOT NULL AND v.heat IS NOT NULL
    ),
    scattered (dst $node, message bigint) AS (
        SELECT e.dst, a.heat FROM applied a JOIN edges e ON e.src = a.node
    )
SELECT node, heat FROM applied
