CREATE TABLE results (
    auction BIGINT,
    starts BIGINT,
    num BIGINT
) WITH (
    'connector' = 'kafka',
    'topic' = 'results.{run}',
    'properties.bootstrap.servers' = '{address}',
    'format' = 'json'
);

INSERT INTO results
SELECT
    counted.auction,
    TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', counted.window_start) AS starts,
    counted.num
FROM (
    SELECT auction, COUNT(*) AS num, window_start, window_end
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(rowtime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
    GROUP BY auction, window_start, window_end
) AS counted
JOIN (
    SELECT MAX(num) AS num, window_start, window_end
    FROM (
        SELECT auction, COUNT(*) AS num, window_start, window_end
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(rowtime), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
        GROUP BY auction, window_start, window_end
    )
    GROUP BY window_start, window_end
) AS most
ON counted.window_start = most.window_start
    AND counted.window_end = most.window_end
    AND counted.num = most.num;
