-- One hop: where the edges of each asked node lead, a row for each edge.
--
-- Each question is a row of asked(node), inserted and retracted as questions come and go.
--
-- K-Pg (2018), section 6.2 (interactive queries: 1-hop look-ups).
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- reads: asked(node $node)
-- key: node
-- example:
--   edges: (1, 2), (1, 3), (2, 3)
--   asked: (1,), (9,)
--   rows: (1, 2), (1, 3)
SELECT a.node, e.dst AS neighbour
FROM asked a JOIN edges e ON e.src = a.node
WHERE e.dst IS NOT NULL
