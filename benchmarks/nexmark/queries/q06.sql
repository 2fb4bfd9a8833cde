select
    seller,
    auction,
    avg(final) over (
        partition by seller order by date_time, auction rows between 10 preceding and current row
    ) as average
from (
    select
        a.seller,
        a.id as auction,
        b.price as final,
        b.date_time,
        row_number() over (partition by a.id order by b.price desc, b.date_time, b.id) as place
    from auction a join bid b on a.id = b.auction
    where b.date_time between a.date_time and a.expires
) as bids
where place = 1
