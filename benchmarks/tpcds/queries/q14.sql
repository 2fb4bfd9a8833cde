with everywhere as (
    select i_item_sk as item
    from item,
        (select i_brand_id as brand, i_class_id as class, i_category_id as category
         from store_sales, item, date_dim
         where ss_item_sk = i_item_sk and ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
         intersect
         select i_brand_id, i_class_id, i_category_id
         from catalog_sales, item, date_dim
         where cs_item_sk = i_item_sk and cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
         intersect
         select i_brand_id, i_class_id, i_category_id
         from web_sales, item, date_dim
         where ws_item_sk = i_item_sk and ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001) kinds
    where i_brand_id = brand and i_class_id = class and i_category_id = category
), usual as (
    select avg(quantity * price) as sale
    from (
        select ss_quantity as quantity, ss_list_price as price
        from store_sales, date_dim where ss_sold_date_sk = d_date_sk and d_year between 1999 and 2001
        union all
        select cs_quantity, cs_list_price
        from catalog_sales, date_dim where cs_sold_date_sk = d_date_sk and d_year between 1999 and 2001
        union all
        select ws_quantity, ws_list_price
        from web_sales, date_dim where ws_sold_date_sk = d_date_sk and d_year between 1999 and 2001
    ) every
)
select channel, i_brand_id, i_class_id, i_category_id, sum(sales) as sales, sum(number) as number
from (
    select 'store' as channel, i_brand_id, i_class_id, i_category_id,
           sum(ss_quantity * ss_list_price) as sales, count(*) as number
    from store_sales, item, date_dim
    where ss_item_sk in (select item from everywhere) and ss_item_sk = i_item_sk
      and ss_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
    group by i_brand_id, i_class_id, i_category_id
    having sum(ss_quantity * ss_list_price) > (select sale from usual)
    union all
    select 'catalog', i_brand_id, i_class_id, i_category_id, sum(cs_quantity * cs_list_price), count(*)
    from catalog_sales, item, date_dim
    where cs_item_sk in (select item from everywhere) and cs_item_sk = i_item_sk
      and cs_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
    group by i_brand_id, i_class_id, i_category_id
    having sum(cs_quantity * cs_list_price) > (select sale from usual)
    union all
    select 'web', i_brand_id, i_class_id, i_category_id, sum(ws_quantity * ws_list_price), count(*)
    from web_sales, item, date_dim
    where ws_item_sk in (select item from everywhere) and ws_item_sk = i_item_sk
      and ws_sold_date_sk = d_date_sk and d_year = 2001 and d_moy = 11
    group by i_brand_id, i_class_id, i_category_id
    having sum(ws_quantity * ws_list_price) > (select sale from usual)
) sold
group by rollup (channel, i_brand_id, i_class_id, i_category_id)
order by channel, i_brand_id, i_class_id, i_category_id
limit 100
