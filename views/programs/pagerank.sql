-- PageRank after a fixed number of rounds, in millionths.
--
-- Ranks are whole numbers, so that equal inputs give equal ranks whatever order they came in. What
-- goes along an edge is rounded down to a multiple of the step: the greater this is, the fewer nodes
-- a change reaches.
--
-- Naiad (CACM 2016), "Graph processing" and figure 4; differential dataflow (CIDR 2013), section
-- 5.2.
--
-- parameter: node = bigint
-- parameter: rounds = 20
-- parameter: step = 1
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 1), (3, 1)
--   rounds: 1
--   rows: (1, 150000), (2, 150000), (3, 150000)
WITH
    graph AS (SELECT src, dst FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL),
    nodes AS (SELECT src AS node FROM graph UNION SELECT dst FROM graph),
    degrees AS (SELECT src AS node, count(*) AS degree FROM graph GROUP BY src),
    links AS (SELECT g.src, g.dst, d.degree FROM graph g JOIN degrees d ON d.node = g.src),
    ranked AS (
        WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT $rounds)
        rank (node $node, millionths bigint) AS (
            SELECT node, sum(share)::bigint
            FROM (
                SELECT node, 150000 AS share FROM nodes
                UNION ALL
                SELECT l.dst, r.millionths * 85 / (100 * $step * l.degree) * $step
                FROM rank r
                JOIN links l ON l.src = r.node
            ) AS shares
            GROUP BY node
        )
        SELECT node, millionths FROM rank
    )
SELECT node, millionths FROM ranked
