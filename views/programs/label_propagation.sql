-- Communities by label propagation: in each round a node takes its neighbours' most frequent label.
--
-- Of equally frequent labels the least is taken. Labels may go round for ever, so rounds are
-- bounded.
--
-- Naiad (CACM 2016), "Graph processing": a vertex program whose message is a label.
--
-- parameter: node = bigint
-- parameter: rounds = 10
-- reads: edges(src $node, dst $node)
-- key: node
-- example:
--   edges: (1, 2), (2, 3), (1, 3)
--   rounds: 4
--   rows: (1, 1), (2, 1), (3, 1)
WITH
    graph AS (
        SELECT src, dst FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL
        UNION
        SELECT dst, src FROM edges WHERE src IS NOT NULL AND dst IS NOT NULL
    ),
    nodes AS (SELECT DISTINCT src AS node FROM graph),
    labelled AS (
        WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT $rounds)
        label (node $node, community $node) AS (
            SELECT n.node, coalesce(m.community, n.node)
            FROM nodes n
            LEFT JOIN (
                SELECT DISTINCT ON (node) node, community
                FROM (
                    SELECT g.dst AS node, l.community, count(*) AS neighbours
                    FROM graph g JOIN label l ON l.node = g.src
                    GROUP BY g.dst, l.community
                ) AS counted
                ORDER BY node, neighbours DESC, community
            ) AS m ON m.node = n.node
        )
        SELECT node, community FROM label
    )
SELECT node, community FROM labelled
