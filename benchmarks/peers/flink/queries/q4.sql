CREATE TABLE results (
    category BIGINT,
    average DOUBLE,
    PRIMARY KEY (category) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'results.{run}',
    'properties.bootstrap.servers' = '{address}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO results
SELECT category, AVG(CAST(final AS DOUBLE)) AS average
FROM (
    SELECT a.id, a.category, MAX(b.price) AS final
    FROM auction a JOIN bid b ON a.id = b.auction
    WHERE b.date_time BETWEEN a.date_time AND a.expires
    GROUP BY a.id, a.category
)
GROUP BY category;
