-- The top hashtag of each connected component of users who mention one another.
--
-- Components follow the mentions that come and go; the counts follow the components.
--
-- Differential dataflow (CIDR 2013), section 5.1 and the appendix: the top hashtag of each
-- component.
--
-- parameter: node = bigint
-- reads: mentions(author $node, mentioned $node)
-- reads: hashtags(author $node, tag text)
-- key: component
-- example:
--   mentions: (1, 2), (3, 4)
--   hashtags: (1, 'a'), (2, 'b'), (2, 'b'), (4, 'c'), (9, 'd')
--   rows: (1, 'b', 2), (3, 'c', 1)
WITH
    components AS (
        WITH MUTUALLY RECURSIVE label (node $node, component $node) AS (
            SELECT node, min(component)
            FROM (
                SELECT least(author, mentioned) AS node, least(author, mentioned) AS component
                FROM mentions
                WHERE author IS NOT NULL AND mentioned IS NOT NULL
                UNION ALL
                SELECT m.mentioned, l.component
                FROM mentions m JOIN label l ON l.node = m.author
                WHERE m.mentioned IS NOT NULL
                UNION ALL
                SELECT m.author, l.component
                FROM mentions m JOIN label l ON l.node = m.mentioned
                WHERE m.author IS NOT NULL
            ) AS proposed
            GROUP BY node
        )
        SELECT node, component FROM label
    ),
    counted AS (
        SELECT c.component, h.tag, count(*) AS uses
        FROM hashtags h JOIN components c ON c.node = h.author
        WHERE h.tag IS NOT NULL
        GROUP BY c.component, h.tag
    )
SELECT DISTINCT ON (component) component, tag, uses
FROM counted
ORDER BY component, uses DESC, tag
