-- Triangles: three edges that follow one another back to where they began.
--
-- A join of three relations over shared arrangements without state of its own (a delta join).
--
-- K-Pg (2018), sections 2.1 and 5.3.1: joins over shared arrangements.
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- key: a, b, c
-- example:
--   edges: (1, 2), (2, 3), (3, 1), (3, 4)
--   rows: (1, 2, 3), (2, 3, 1), (3, 1, 2)
SELECT x.src AS a, y.src AS b, z.src AS c
FROM edges x
JOIN edges y ON y.src = x.dst
JOIN edges z ON z.src = y.dst AND z.dst = x.src
