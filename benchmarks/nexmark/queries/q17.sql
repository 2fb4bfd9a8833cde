select
    auction,
    date_trunc('day', date_time) as day,
    count(*) as total_bids,
    count(*) filter (where price < 1000) as rank1_bids,
    count(*) filter (where price >= 1000 and price < 100000) as rank2_bids,
    count(*) filter (where price >= 100000) as rank3_bids,
    min(price) as min_price,
    max(price) as max_price,
    avg(price) as avg_price,
    sum(price) as sum_price
from bid
group by auction, date_trunc('day', date_time)
