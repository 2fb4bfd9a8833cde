select p.id, p.name, p.starts
from (
    select
        id,
        name,
        10 * cast(floor(extract(epoch from date_time) / 10) as bigint) as starts
    from person
) as p
join (
    select distinct
        seller,
        10 * cast(floor(extract(epoch from date_time) / 10) as bigint) as starts
    from auction
) as a
on p.id = a.seller and p.starts = a.starts
