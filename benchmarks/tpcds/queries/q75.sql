with sold as (
    select d_year as year, i_brand_id as brand, i_class_id as class, i_category_id as category,
           i_manufact_id as maker, cs_quantity - coalesce(cr_return_quantity, 0) as number,
           cs_ext_sales_price - coalesce(cr_return_amount, 0.0) as amount
    from catalog_sales
    join item on i_item_sk = cs_item_sk
    join date_dim on d_date_sk = cs_sold_date_sk
    left join catalog_returns on cs_order_number = cr_order_number and cs_item_sk = cr_item_sk
    where i_category = 'Books'
    union
    select d_year as year, i_brand_id as brand, i_class_id as class, i_category_id as category,
           i_manufact_id as maker, ss_quantity - coalesce(sr_return_quantity, 0) as number,
           ss_ext_sales_price - coalesce(sr_return_amt, 0.0) as amount
    from store_sales
    join item on i_item_sk = ss_item_sk
    join date_dim on d_date_sk = ss_sold_date_sk
    left join store_returns on ss_ticket_number = sr_ticket_number and ss_item_sk = sr_item_sk
    where i_category = 'Books'
    union
    select d_year as year, i_brand_id as brand, i_class_id as class, i_category_id as category,
           i_manufact_id as maker, ws_quantity - coalesce(wr_return_quantity, 0) as number,
           ws_ext_sales_price - coalesce(wr_return_amt, 0.0) as amount
    from web_sales
    join item on i_item_sk = ws_item_sk
    join date_dim on d_date_sk = ws_sold_date_sk
    left join web_returns on ws_order_number = wr_order_number and ws_item_sk = wr_item_sk
    where i_category = 'Books'
), yearly as (
    select year, brand, class, category, maker, sum(number) as number, sum(amount) as amount
    from sold
    group by year, brand, class, category, maker
)
select last.year as last_year, this.year, this.brand, this.class, this.category, this.maker,
       last.number as last_number, this.number, this.number - last.number as more, this.amount - last.amount as earned
from yearly this, yearly last
where this.brand = last.brand and this.class = last.class and this.category = last.category and this.maker = last.maker
  and this.year = 2002 and last.year = 2001
  and cast(this.number as decimal(17, 2)) / cast(last.number as decimal(17, 2)) < 0.9
order by more, earned
limit 100
