-- Degrees of degrees: how many nodes have each number of edges out.
--
-- One changed edge moves two nodes between degrees, however many edges there are.
--
-- K-Pg (2018), section 5.3.2 (group), twice; the first example of the differential dataflow
-- library.
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- key: degree
-- example:
--   edges: (1, 2), (1, 3), (2, 3), (4, 1)
--   rows: (1, 2), (2, 1)
SELECT degree, count(*) AS nodes
FROM (SELECT src, count(*) AS degree FROM edges WHERE src IS NOT NULL GROUP BY src) AS counted
GROUP BY degree
