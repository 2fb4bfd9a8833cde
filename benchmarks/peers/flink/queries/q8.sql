CREATE TABLE results (
    id BIGINT,
    name STRING,
    starts BIGINT
) WITH (
    'connector' = 'kafka',
    'topic' = 'results.{run}',
    'properties.bootstrap.servers' = '{address}',
    'format' = 'json'
);

INSERT INTO results
SELECT
    p.id,
    p.name,
    TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', p.window_start) AS starts
FROM (
    SELECT id, name, window_start, window_end
    FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(rowtime), INTERVAL '10' SECOND))
    GROUP BY id, name, window_start, window_end
) AS p
JOIN (
    SELECT seller, window_start, window_end
    FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(rowtime), INTERVAL '10' SECOND))
    GROUP BY seller, window_start, window_end
) AS a
ON p.id = a.seller
    AND p.window_start = a.window_start
    AND p.window_end = a.window_end;
