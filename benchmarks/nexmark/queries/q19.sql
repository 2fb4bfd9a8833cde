select id, auction, bidder, price, channel, url, date_time, extra, place
from (
    select *, row_number() over (partition by auction order by price desc, id) as place
    from bid
) as bids
where place <= 10
