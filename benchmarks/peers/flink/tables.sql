CREATE TABLE person (
    id BIGINT,
    name STRING,
    email STRING,
    city STRING,
    state STRING,
    date_time BIGINT,
    rowtime AS TO_TIMESTAMP_LTZ(date_time, 3),
    WATERMARK FOR rowtime AS rowtime - INTERVAL '0.001' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'person.{run}',
    'properties.bootstrap.servers' = '{address}',
    'properties.group.id' = '{run}',
    'properties.isolation.level' = 'read_committed',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE auction (
    id BIGINT,
    item_name STRING,
    description STRING,
    initial_bid BIGINT,
    reserve BIGINT,
    date_time BIGINT,
    expires BIGINT,
    seller BIGINT,
    category BIGINT,
    rowtime AS TO_TIMESTAMP_LTZ(date_time, 3),
    WATERMARK FOR rowtime AS rowtime - INTERVAL '0.001' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'auction.{run}',
    'properties.bootstrap.servers' = '{address}',
    'properties.group.id' = '{run}',
    'properties.isolation.level' = 'read_committed',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);

CREATE TABLE bid (
    id BIGINT,
    auction BIGINT,
    bidder BIGINT,
    price BIGINT,
    channel STRING,
    url STRING,
    date_time BIGINT,
    extra STRING,
    rowtime AS TO_TIMESTAMP_LTZ(date_time, 3),
    WATERMARK FOR rowtime AS rowtime - INTERVAL '0.001' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'bid.{run}',
    'properties.bootstrap.servers' = '{address}',
    'properties.group.id' = '{run}',
    'properties.isolation.level' = 'read_committed',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);
