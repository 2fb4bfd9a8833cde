-- PageRank until no rank moves by more than a tolerance.
--
-- A rank that moves by less than the tolerance keeps its former value, so that the rounds end. The
-- last digits depend on the order in which changes came; two runs agree within the tolerance.
--
-- Naiad (CACM 2016), "Graph processing", without its fixed number of rounds.
--
-- parameter: node = bigint
-- parameter: tolerance = 0.001
-- parameter: rounds = 200
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 1)
--   tolerance: 1
--   rows: (1, 0.15), (2, 0.15)
WITH
    graph AS (SELECT src, dst FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL),
    nodes AS (SELECT src AS node FROM graph UNION SELECT dst FROM graph),
    degrees AS (SELECT src AS node, count(*) AS degree FROM graph GROUP BY src),
    links AS (SELECT g.src, g.dst, d.degree FROM graph g JOIN degrees d ON d.node = g.src),
    ranked AS (
        WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT $rounds)
        rank (node $node, value double precision) AS (
            SELECT node, CASE WHEN abs(value - former) < $tolerance THEN former ELSE value END
            FROM (
                SELECT node, 0.15 + 0.85 * sum(share) AS value, sum(former) AS former
                FROM (
                    SELECT node, 0::double precision AS share, NULL::double precision AS former
                    FROM nodes
                    UNION ALL
                    SELECT l.dst, r.value / l.degree, NULL
                    FROM rank r
                    JOIN links l ON l.src = r.node
                    UNION ALL
                    SELECT node, 0, value FROM rank
                ) AS shares
                GROUP BY node
            ) AS moved
        )
        SELECT node, value FROM rank
    )
SELECT node, value FROM ranked
