-- The bill of materials: how many of each part a whole contains, through all its assemblies.
--
-- Quantities are multiplied along each path and summed over the paths.
--
-- K-Pg (2018), section 5.4 (iteration), with a sum in the loop.
--
-- parameter: node = bigint
-- reads: parts(whole $node, part $node, quantity bigint)
-- key: whole, part
-- example:
--   parts: (1, 2, 2), (2, 3, 4), (1, 3, 1)
--   rows: (1, 2, 2), (2, 3, 4), (1, 3, 9)
WITH MUTUALLY RECURSIVE contains (whole $node, part $node, quantity bigint) AS (
    SELECT whole, part, sum(quantity)::bigint
    FROM (
        SELECT whole, part, quantity
        FROM parts
        WHERE whole IS NOT NULL AND part IS NOT NULL AND quantity IS NOT NULL
        UNION ALL
        SELECT p.whole, c.part, p.quantity * c.quantity
        FROM parts p JOIN contains c ON c.whole = p.part
        WHERE p.whole IS NOT NULL AND p.quantity IS NOT NULL
    ) AS paths
    GROUP BY whole, part
)
SELECT whole, part, quantity FROM contains
