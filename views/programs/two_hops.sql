-- Two hops: where paths of two edges from each asked node lead, a row for each path.
--
-- Each question is a row of asked(node), inserted and retracted as questions come and go.
--
-- K-Pg (2018), section 6.2 (interactive queries: 2-hop look-ups).
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- reads: asked(node $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (1, 4), (4, 3), (3, 1)
--   asked: (1,), (2,)
--   rows: (1, 3), (1, 3), (2, 1)
SELECT a.node, f.dst AS neighbour
FROM asked a
JOIN edges e ON e.src = a.node
JOIN edges f ON f.src = e.dst
WHERE f.dst IS NOT NULL
