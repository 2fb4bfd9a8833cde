-- Connected components whose small labels set out first, for nodes that are numbers.
--
-- Most nodes then see one label only, the one that they keep: less work, less state. The priority
-- changes no row of the answer.
--
-- Differential dataflow (CIDR 2013), sections 3.3 and 4.1 (PrioritizedFP) and figure 1.
--
-- parameter: node = bigint
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (2, 1), (2, 3), (5, 4), (6, 6)
--   rows: (1, 1), (2, 1), (3, 1), (4, 4), (5, 4), (6, 6)
WITH MUTUALLY RECURSIVE label (node $node, component $node)
    PRIORITY BY ceil(ln(greatest(component, 1)))::bigint
AS (
    SELECT node, min(component)
    FROM (
        SELECT least(src, dst) AS node, least(src, dst) AS component
        FROM edges
        WHERE src IS NOT NULL AND dst IS NOT NULL
        UNION ALL
        SELECT e.dst, l.component FROM edges e JOIN label l ON l.node = e.src
        WHERE e.dst IS NOT NULL
        UNION ALL
        SELECT e.src, l.component FROM edges e JOIN label l ON l.node = e.dst
        WHERE e.src IS NOT NULL
    ) AS proposed
    GROUP BY node
)
SELECT node, component FROM label
