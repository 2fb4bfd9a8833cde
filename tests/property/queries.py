"""Queries to which SQL gives one answer, so that DuckDB may judge ours."""

_TEXT = """
select * from customers;

select id, name from customers where segment = 'gold' and city is not null;

select c.segment, count(*) as n, sum(i.quantity * i.price) as revenue from customers c join
orders o on o.customer_id = c.id join items i on i.order_id = o.id group by c.segment;

select category, title, revenue from (select p.category, p.title, sum(i.quantity*i.price) as
revenue, row_number() over (partition by p.category order by sum(i.quantity*i.price) desc nulls
last, p.title) as rn from products p join items i on i.product_id = p.id group by p.category,
p.title) t where rn <= 1;

select category, title, rn from (select p.category, p.title, row_number() over (partition by
p.category order by p.title) as rn from products p) t where rn <= 3;

select c.id, c.name from customers c where not exists (select 1 from orders o where
o.customer_id = c.id);

select c.city, count(o.id) as orders from customers c left join orders o on o.customer_id = c.id
group by c.city;

select id from customers where id not in (select customer_id from orders);

select id from customers where id in (select customer_id from orders where total > 5);

select id, id in (select customer_id from orders) as x from customers;

select id from customers where id = 1 or id in (select customer_id from orders where
status='done');

select c.id, (select sum(o.total) from orders o where o.customer_id = c.id) as t from customers
c;

select c.id, (select count(*) from orders o where o.customer_id = c.id and o.total > c.id) as t
from customers c;

select count(*) as n, sum(total) as s, avg(total) as a, min(day) as d from orders;

select count(*) as n, sum(total) as s from orders where id > 100;

select count(distinct customer_id) as n, count(*) as m, sum(distinct total) as z from orders;

select status, count(distinct customer_id) as n, count(*) as m, count(*) filter (where total >
10) as k from orders group by 1;

select distinct city from customers;

select city from customers union select status from orders;

select city from customers union all select status from orders;

select city from customers except select 'rome' union select 'x' as u;

select segment from customers intersect select 'gold';

select * from orders order by total desc nulls last, id limit 2;

select c.id, o.total from customers c left join lateral (select total from orders o where
o.customer_id = c.id order by total desc nulls last limit 1) o on true;

select c.id, o.total from customers c, lateral (select total from orders o where o.customer_id =
c.id order by total nulls last limit 1) o;

select id, case when total > 10 then 'big' when total is null then 'none' else 'small' end as
size from orders;

select c.id, o.id as oid from customers c right join orders o on c.id = o.customer_id;

select c.id, o.id as oid from customers c left join orders o on c.id < o.customer_id and o.total
> 15;

select extract(year from day) as y, extract(month from day) as m, count(*) as n from orders
group by 1, 2 having count(*) >= 1;

select id, day + interval '1 month' as d, day + 3 as e, date_trunc('month', day::timestamp) as m
from orders;

select upper(name) || '-' || coalesce(city, '?') as x, length(name) as l, substring(name from 1
for 2) as s from customers;

select id from customers where name like 'a%' or city between 'a' and 'p';

select distinct on (customer_id) customer_id, id from orders order by customer_id, id desc;

select a.id from customers a, orders b, items c where a.id = b.customer_id and b.id = c.order_id
and c.price > 3;

select a.id, b.id as bid from customers a, customers b where a.city = b.city and a.id < b.id;

select id, customer_id from orders join customers using (id);

select t.n, count(*) as c from (select customer_id, count(*) as n from orders group by
customer_id) t group by t.n;

select id from orders o where total > (select avg(total) from orders p where p.status =
o.status);

select id from orders o where total > (select avg(total) from orders);

select c.id from customers c where exists (select 1 from orders o where o.customer_id = c.id and
exists (select 1 from items i where i.order_id = o.id and i.price > 3));

select c.id from customers c where (select count(*) from orders o where o.customer_id = c.id and
exists (select 1 from items i where i.order_id = o.id and i.quantity > c.id)) > 0;

select 1 as one;

select * from (values (1,'a'),(2,null)) v(x,y);

select sum(x) as s from (values (1),(2)) v(x);

select max(id) as m from orders having count(*) > 100;

select o.id, (select c.name from customers c where c.id = o.customer_id) as name from orders o;

with big as (select * from orders where total > 10), small as (select * from orders where total
<= 10) select b.id, s.id as sid from big b join small s on s.customer_id = b.customer_id;

with recursive p(src,dst) as (select src, dst from follows union select p.src, f.dst from p join
follows f on f.src = p.dst) select * from p;

with recursive n(x) as (select 1 union all select x+1 from n where x < 5) select * from n;

select id from customers c where city = (select max(city) from customers d where d.segment =
c.segment) and id > 0;

select id from orders where (customer_id, status) in (select id, 'open' from customers);

select id from orders where (customer_id, status) not in (select id, 'open' from customers where
id < 3);

select id, id not in (select customer_id from orders where customer_id is not null) as x from
customers;

select id, exists (select 1 from orders o where o.customer_id = c.id) as x from customers c;

select customer_id, max(total) - min(total) as spread from orders group by customer_id having
count(*) > 0 order by 2;

select c.name, o.n from customers c join (select customer_id, count(*) as n from orders group by
customer_id) o on o.customer_id = c.id where o.n > 1;

select count(*) as n from customers c cross join products p;

select greatest(id, 3) as g, least(total, 5) as l, nullif(status, 'open') as s from orders;

select id from orders where status is distinct from 'open';

select id from orders where (total > 10) is not true;

select bool_and(total > 8) as a, bool_or(total > 50) as b from orders;

select c.segment, o.status, count(*) as n from customers c left join orders o on o.customer_id =
c.id where o.status = 'done' group by c.segment, o.status;

select c.id, x.s from customers c join lateral (select sum(total) as s from orders o where
o.customer_id = c.id) x on true;

select c.id, x.v from customers c, lateral (select o.total as v from orders o where
o.customer_id = c.id union all select c.id) x;

with recursive r(id) as ( select src from follows where src in (1, 2) union select f.dst from r
join follows f on f.src = r.id ) select id from r;

select c.id as c, o.id as o from customers c full join orders o on c.id = o.customer_id and
o.total > 5;

select c.id as c, o.id as o from customers c full join orders o on c.city = o.status;

select id from orders where not (status in (select segment from customers) and total > 3);

select id from orders where status not in (select segment from customers) or total > 3;

select id from customers where not exists (select 1 from orders o where o.customer_id =
customers.id and o.total > 3);

select id from customers c where not exists (select 1 from orders o where o.customer_id > c.id
and o.total > 3);

select c.id, (select count(*) from orders o where o.customer_id > c.id) as n from customers c;

select c.id, (select max(o.total) from orders o where o.customer_id = c.id and o.status =
c.segment) as n from customers c;

select c.id, (select sum(i.price) from orders o join items i on i.order_id = o.id where
o.customer_id = c.id) as n from customers c;

select c.id, (select count(distinct i.product_id) from orders o join items i on i.order_id =
o.id where o.customer_id = c.id) as n from customers c;

select c.id from customers c where c.id in (select o.customer_id from orders o where o.status =
c.segment);

select c.id from customers c where c.name not in (select o.status from orders o where
o.customer_id = c.id);

select c.id, c.name not in (select o.status from orders o where o.customer_id = c.id) as x from
customers c;

select c.id, x.n from customers c left join lateral (select count(*) as n, o.status from orders
o where o.customer_id = c.id group by o.status) x on x.n > 1;

select c.id, (select count(*) from orders o where o.customer_id = c.id) + (select count(*) from
follows f where f.src = c.id) as n from customers c;

select c.id from customers c where 1 < (select count(*) from orders o where o.customer_id = c.id
or o.status = c.segment);

select o.id from orders o where o.total = (select max(p.total) from orders p where p.customer_id
= o.customer_id);

select c.id, x.t from customers c, lateral (select sum(y.total) as t from (select total from
orders o where o.customer_id = c.id union all select c.id) y) x;

select c.id, x.s from customers c, lateral (select distinct o.status as s from orders o where
o.customer_id = c.id or c.id = 1) x;

select c.id, x.id as oid from customers c, lateral (select o.id from orders o where
o.customer_id >= c.id order by o.total nulls last, o.id limit 2) x;

select c.id, x.id as oid from customers c left join lateral (select o.id from orders o left join
items i on i.order_id = o.id and i.quantity > c.id where o.customer_id = c.id and i.line is
null) x on true;

select segment, city, count(*) as n from customers group by segment, city having count(*) > 1 or
max(id) > 3;

select segment || '!' as s, count(*) as n from customers group by segment || '!';

select coalesce(segment, 'none') as s, count(*) as n from customers group by 1;

select distinct c.segment, o.status from customers c join orders o on o.customer_id = c.id;

select p.category, avg(p.weight) as a, sum(p.weight) as s, min(p.weight) as lo, max(p.weight) as
hi from products p group by p.category;

select avg(quantity) as a, sum(quantity) as s, avg(price) as p, count(price) as n from items;

select product_id, avg(distinct price) as a, count(*) as n, sum(quantity) filter (where price >
5) as s from items group by product_id;

select sum(o.total) as t from orders o where o.customer_id in (select src from follows) having
count(*) > 0;

select t.category, t.n from (select category, count(*) as n, row_number() over (order by
count(*) desc, category nulls last) as rn from products group by category) t where t.rn <= 2;

select id, rn from (select id, row_number() over (partition by status order by total desc nulls
last, id) as rn from orders) t where rn between 2 and 3;

select id from (select id, status, row_number() over (partition by status order by id) as rn
from orders) t where rn = 1 and status = 'a';

select t.id, c.name from (select id, customer_id, row_number() over (partition by customer_id
order by id) as rn from orders) t join customers c on c.id = t.customer_id where t.rn < 2;

select a.src, b.dst from follows a join follows b on a.dst = b.src where a.src <> b.dst;

select a.src from follows a where exists (select 1 from follows b where b.src = a.dst and b.dst
= a.src);

with recursive r(src, dst, n) as (select src, dst, 1 from follows union select r.src, f.dst, r.n
+ 1 from r join follows f on f.src = r.dst where r.n < 3) select * from r;

with recursive r(x) as (select id from customers union all select x + 10 from r where x < 30)
select x, count(*) as n from r group by x;

with recursive r(id) as (select 1::bigint union select f.dst from follows f join r on r.id =
f.src where f.dst not in (select id from orders where id is not null)) select c.name from
customers c where c.id in (select id from r);

with t as (select customer_id as c, sum(total) as s from orders group by 1) select a.c, b.s from
t a join t b on a.c = b.c where a.s >= b.s;

(select id from customers order by id limit 1) union all (select id from orders order by id desc
limit 1);

select id from customers union select id from orders union all select id from products;

select id, status from orders except select id, segment from customers;

select customer_id from orders intersect select src from follows;

select id from orders order by total nulls first, id desc offset 1;

select id from orders order by day desc nulls last, id limit 3 offset 1;

select distinct status from orders order by status nulls last limit 2;

select id from orders where day >= date '2024-01-01' and day < date '2024-01-01' + interval '1
month';

select extract(dow from day) as d, extract(quarter from day) as q, extract(doy from day) as y,
day - date '2024-01-01' as n from orders;

select id, cast(total as bigint) as i, cast(total as double precision) as f, cast(id as text) as
t, round(total) as r, floor(total) as lo, ceil(total) as hi, abs(total) as p from orders;

select id, total * 2 - 1 as a, total * total as b, id * 3 % 2 as c, -id as d from orders;

select id, lower(name) as l, upper(city) as u, replace(name, 'a', 'xx') as r, trim(name) as t,
strpos(name, 'b') as p, starts_with(name, 'a') as s, left(city, 2) as e from customers;

select id, concat(name, '-', city) as c, split_part(city, 'o', 1) as s from customers;

select id from customers where name like '%b' or name ilike 'b%' or city not like '_ome';

select id, name in ('a', null) as a, city not in ('rome', 'ab') as b, id between 2 and 3 as c
from customers;

select id, case segment when 'gold' then 1 when 'a' then 2 end as k, nullif(name, city) as n,
greatest(name, city) as g, coalesce(name, segment, city, '?') as f from customers;

select id from customers where (name = city) is null;

select id from customers where name is distinct from city and not (segment = 'gold');

select o.id from orders o left join customers c on c.id = o.customer_id where c.segment is null;

select o.id, c.name from orders o left join customers c on c.id = o.customer_id and c.segment =
'gold';

select o.id, i.line from orders o left join items i on i.order_id = o.id and i.price > o.total;

select o.id, i.line from orders o left join items i on i.price > o.total;

select o.id, i.line from orders o left join items i on i.order_id = o.id and o.total > 3;

select c.id, o.id as oid, i.line from customers c left join orders o on o.customer_id = c.id
left join items i on i.order_id = o.id;

select c.id, x.oid from customers c left join (select o.id as oid, o.customer_id from orders o
join items i on i.order_id = o.id) x on x.customer_id = c.id;

select id, customer_id, name from orders left join customers using (id);

select id, segment, status from customers full join orders using (id);

select * from follows natural join (select src, count(*) as n from follows group by src) t;

select count(*) as n from customers a, customers b, orders c where a.city = b.city and b.id =
c.customer_id;

select exists (select 1 from orders where total > 10) as x;

select (select max(total) from orders) - (select min(total) from orders) as x;

select case when exists (select 1 from orders where total > 10) then 'y' else 'n' end as x,
count(*) as n from customers;

select count(*) as n from (select 1 as one from customers, orders) t;

select o.status, count(*) as n from orders o where exists (select 1 from items i where
i.order_id = o.id) group by o.status having sum(o.total) > (select avg(total) from orders);

select id from customers union select id from orders intersect select src from follows;

(select id from customers union select id from orders) intersect select src from follows;

select id from customers except select id from orders intersect select src from follows;

with recursive r(a, n) as (select src, 0::bigint from follows union select f.dst, 1 from r join
follows f on f.src = r.a) select a, n from r;

select sum((select count(*) from items i where i.order_id = o.id)) as n from orders o;

select o.customer_id, count(*) as n, (select max(c.name) from customers c
where c.id = o.customer_id) as name from orders o group by o.customer_id;

select o.customer_id, count(*) as n from orders o group by o.customer_id
having exists (select 1 from customers c where c.id = o.customer_id and c.segment = 'gold');

select id, total from orders where total > (select avg(total) from orders where status = 'open');

select customer_id, sum(total) as t from orders group by customer_id
having (select max(total) * 0.1 from orders) >= sum(total);

select c.city, c.segment, sum(i.quantity) as n, min(i.price) as least from customers c left join
(orders o join items i on i.order_id = o.id) on o.customer_id = c.id and c.city = 'rome'
group by c.city, c.segment;

select i.order_id, i.line from items i join products p on p.id = i.product_id
where p.category = 'a' and i.quantity >= (select avg(j.quantity) from items j
where j.product_id = p.id)
"""

QUERIES = tuple(query.strip() for query in _TEXT.split(";"))
