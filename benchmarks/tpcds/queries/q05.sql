with by_store as (
    select s_store_id as place, sum(price) as sales, sum(profit) as profit, sum(back) as returned, sum(loss) as loss
    from (
        select ss_store_sk as store, ss_sold_date_sk as day, ss_ext_sales_price as price, ss_net_profit as profit,
               cast(0 as decimal(7, 2)) as back, cast(0 as decimal(7, 2)) as loss
        from store_sales
        union all
        select sr_store_sk, sr_returned_date_sk, cast(0 as decimal(7, 2)), cast(0 as decimal(7, 2)),
               sr_return_amt, sr_net_loss
        from store_returns
    ) moved, date_dim, store
    where day = d_date_sk and store = s_store_sk
      and d_date between date '2000-08-23' and date '2000-08-23' + interval '14 days'
    group by s_store_id
), by_page as (
    select cp_catalog_page_id as place, sum(price) as sales, sum(profit) as profit, sum(back) as returned, sum(loss) as loss
    from (
        select cs_catalog_page_sk as page, cs_sold_date_sk as day, cs_ext_sales_price as price, cs_net_profit as profit,
               cast(0 as decimal(7, 2)) as back, cast(0 as decimal(7, 2)) as loss
        from catalog_sales
        union all
        select cr_catalog_page_sk, cr_returned_date_sk, cast(0 as decimal(7, 2)), cast(0 as decimal(7, 2)),
               cr_return_amount, cr_net_loss
        from catalog_returns
    ) moved, date_dim, catalog_page
    where day = d_date_sk and page = cp_catalog_page_sk
      and d_date between date '2000-08-23' and date '2000-08-23' + interval '14 days'
    group by cp_catalog_page_id
), by_site as (
    select web_site_id as place, sum(price) as sales, sum(profit) as profit, sum(back) as returned, sum(loss) as loss
    from (
        select ws_web_site_sk as site, ws_sold_date_sk as day, ws_ext_sales_price as price, ws_net_profit as profit,
               cast(0 as decimal(7, 2)) as back, cast(0 as decimal(7, 2)) as loss
        from web_sales
        union all
        select ws_web_site_sk, wr_returned_date_sk, cast(0 as decimal(7, 2)), cast(0 as decimal(7, 2)),
               wr_return_amt, wr_net_loss
        from web_returns
        left join web_sales on wr_item_sk = ws_item_sk and wr_order_number = ws_order_number
    ) moved, date_dim, web_site
    where day = d_date_sk and site = web_site_sk
      and d_date between date '2000-08-23' and date '2000-08-23' + interval '14 days'
    group by web_site_id
)
select channel, place, sum(sales) as sales, sum(returned) as returned, sum(profit) as profit
from (
    select 'store' as channel, 'store' || place as place, sales, returned, profit - loss as profit from by_store
    union all
    select 'catalog', 'page' || place, sales, returned, profit - loss from by_page
    union all
    select 'web', 'site' || place, sales, returned, profit - loss from by_site
) channels
group by rollup (channel, place)
order by channel, place
limit 100
