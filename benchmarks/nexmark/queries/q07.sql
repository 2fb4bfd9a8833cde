with tumble (id, auction, price, bidder, starts) as (
    select
        id,
        auction,
        price,
        bidder,
        10 * cast(floor(extract(epoch from date_time) / 10) as bigint)
    from bid
),
highest (starts, price) as (
    select starts, max(price) from tumble group by starts
)
select t.id, t.auction, t.price, t.bidder, t.starts
from tumble t join highest h on t.starts = h.starts and t.price = h.price
