select category, avg(final) as average
from (
    select a.id, a.category, max(b.price) as final
    from auction a join bid b on a.id = b.auction
    where b.date_time between a.date_time and a.expires
    group by a.id, a.category
) as winning
group by category
