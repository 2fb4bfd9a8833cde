-- Shortest paths of at most four edges between asked pairs, searched from both ends.
--
-- Each question is a row of pairs(src, dst), inserted and retracted as questions come and go; the
-- searches meet in the middle, so that each takes two steps in place of four.
--
-- K-Pg (2018), section 6.2 (interactive queries: paths of at most four edges).
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- reads: pairs(src $node, dst $node)
-- key: src, dst
-- example:
--   edges: (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)
--   pairs: (1, 5), (1, 6), (2, 2), (1, 2)
--   rows: (1, 5, 4), (2, 2, 0), (1, 2, 1)
WITH
    ahead AS (
        SELECT DISTINCT q.src, q.dst, e.dst AS node FROM pairs q JOIN edges e ON e.src = q.src
    ),
    behind AS (
        SELECT DISTINCT q.src, q.dst, e.src AS node FROM pairs q JOIN edges e ON e.dst = q.dst
    ),
    ahead2 AS (
        SELECT DISTINCT a.src, a.dst, e.dst AS node FROM ahead a JOIN edges e ON e.src = a.node
    ),
    behind2 AS (
        SELECT DISTINCT b.src, b.dst, e.src AS node FROM behind b JOIN edges e ON e.dst = b.node
    ),
    met AS (
        SELECT src, dst, 0 AS steps FROM pairs WHERE src = dst
        UNION ALL
        SELECT src, dst, CASE WHEN node = dst THEN 1 END FROM ahead
        UNION ALL
        SELECT a.src, a.dst, 2
        FROM ahead a JOIN behind b ON b.src = a.src AND b.dst = a.dst AND b.node = a.node
        UNION ALL
        SELECT a.src, a.dst, 3
        FROM ahead2 a JOIN behind b ON b.src = a.src AND b.dst = a.dst AND b.node = a.node
        UNION ALL
        SELECT a.src, a.dst, 4
        FROM ahead2 a JOIN behind2 b ON b.src = a.src AND b.dst = a.dst AND b.node = a.node
    )
SELECT src, dst, min(steps) AS steps
FROM met
GROUP BY src, dst
HAVING min(steps) IS NOT NULL
