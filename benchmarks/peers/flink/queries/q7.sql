CREATE TABLE results (
    id BIGINT,
    auction BIGINT,
    price BIGINT,
    bidder BIGINT,
    starts BIGINT
) WITH (
    'connector' = 'kafka',
    'topic' = 'results.{run}',
    'properties.bootstrap.servers' = '{address}',
    'format' = 'json'
);

INSERT INTO results
SELECT
    b.id,
    b.auction,
    b.price,
    b.bidder,
    TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', b.window_start) AS starts
FROM (
    SELECT id, auction, price, bidder, window_start, window_end
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rowtime), INTERVAL '10' SECOND))
) AS b
JOIN (
    SELECT MAX(price) AS price, window_start, window_end
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rowtime), INTERVAL '10' SECOND))
    GROUP BY window_start, window_end
) AS highest
ON b.window_start = highest.window_start
    AND b.window_end = highest.window_end
    AND b.price = highest.price;
