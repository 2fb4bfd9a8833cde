with stock as (
    select warehouse, item, month, deviation, mean, case when mean = 0 then null else deviation / mean end as spread
    from (
        select w_warehouse_sk as warehouse, i_item_sk as item, d_moy as month,
               stddev_samp(inv_quantity_on_hand) as deviation, avg(inv_quantity_on_hand) as mean
        from inventory, item, warehouse, date_dim
        where inv_item_sk = i_item_sk and inv_warehouse_sk = w_warehouse_sk and inv_date_sk = d_date_sk and d_year = 2001
        group by w_warehouse_name, w_warehouse_sk, i_item_sk, d_moy
    ) measured
    where case when mean = 0 then 0 else deviation / mean end > 1
)
select a.warehouse, a.item, a.month, a.mean, a.spread, b.month as next_month, b.mean as next_mean, b.spread as next_spread
from stock a, stock b
where a.item = b.item and a.warehouse = b.warehouse and a.month = 1 and b.month = 2
order by a.warehouse, a.item, a.month, a.mean, a.spread, b.month, b.mean, b.spread
