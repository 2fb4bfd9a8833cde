select
    channel,
    date_trunc('day', date_time) as day,
    max(date_trunc('minute', date_time)) as minute,
    count(*) as total_bids,
    count(*) filter (where price < 1000) as rank1_bids,
    count(*) filter (where price >= 1000 and price < 100000) as rank2_bids,
    count(*) filter (where price >= 100000) as rank3_bids,
    count(distinct bidder) as total_bidders,
    count(distinct bidder) filter (where price < 1000) as rank1_bidders,
    count(distinct bidder) filter (where price >= 1000 and price < 100000) as rank2_bidders,
    count(distinct bidder) filter (where price >= 100000) as rank3_bidders,
    count(distinct auction) as total_auctions,
    count(distinct auction) filter (where price < 1000) as rank1_auctions,
    count(distinct auction) filter (where price >= 1000 and price < 100000) as rank2_auctions,
    count(distinct auction) filter (where price >= 100000) as rank3_auctions
from bid
group by channel, date_trunc('day', date_time)
