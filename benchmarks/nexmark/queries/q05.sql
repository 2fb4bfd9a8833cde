with hop (auction, starts) as (
    select auction, 2 * (cast(floor(extract(epoch from date_time) / 2) as bigint) - slide)
    from bid cross join (values (0), (1), (2), (3), (4)) as slides (slide)
),
counted (auction, starts, num) as (
    select auction, starts, count(*) from hop group by auction, starts
)
select auction, starts, num
from counted
where num >= (select max(other.num) from counted as other where other.starts = counted.starts)
