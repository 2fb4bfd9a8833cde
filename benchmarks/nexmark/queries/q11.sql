select
    bidder,
    session,
    count(*) as bids,
    min(date_time) as begins,
    max(date_time) as ends
from (
    select
        bidder,
        date_time,
        sum(opens) over (partition by bidder order by date_time, id) as session
    from (
        select
            id,
            bidder,
            date_time,
            case
                when date_time <= lag(date_time) over (partition by bidder order by date_time, id)
                    + interval '10 second' then 0
                else 1
            end as opens
        from bid
    ) as marked
) as numbered
group by bidder, session
