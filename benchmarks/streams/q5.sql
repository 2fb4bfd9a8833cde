with pane (auction, starts, num) as (
    select auction, 2 * cast(floor(extract(epoch from date_time) / 2) as bigint), count(*)
    from bid
    group by 1, 2
),
counted (auction, starts, num) as (
    select auction, starts - 2 * slide, cast(sum(num) as bigint)
    from pane cross join (values (0), (1), (2), (3), (4)) as slides (slide)
    group by 1, 2
),
most (starts, num) as (
    select starts, max(num) from counted group by starts
)
select counted.auction, counted.starts, counted.num
from counted join most on counted.starts = most.starts and counted.num = most.num
