select id, auction, bidder, price, channel, url, date_time, extra
from (
    select
        *,
        row_number() over (partition by bidder, auction order by date_time desc, id desc) as place
    from bid
) as bids
where place <= 1
