select i_item_desc, w_warehouse_name, sold.d_week_seq,
       sum(case when p_promo_sk is null then 1 else 0 end) as no_promotion,
       sum(case when p_promo_sk is not null then 1 else 0 end) as promotion, count(*) as total
from catalog_sales
join inventory on cs_item_sk = inv_item_sk
join warehouse on w_warehouse_sk = inv_warehouse_sk
join item on i_item_sk = cs_item_sk
join customer_demographics on cs_bill_cdemo_sk = cd_demo_sk
join household_demographics on cs_bill_hdemo_sk = hd_demo_sk
join date_dim sold on cs_sold_date_sk = sold.d_date_sk
join date_dim stocked on inv_date_sk = stocked.d_date_sk
join date_dim shipped on cs_ship_date_sk = shipped.d_date_sk
left join promotion on cs_promo_sk = p_promo_sk
left join catalog_returns on cr_item_sk = cs_item_sk and cr_order_number = cs_order_number
where sold.d_week_seq = stocked.d_week_seq and inv_quantity_on_hand < cs_quantity and shipped.d_date > sold.d_date + 5
  and hd_buy_potential = '>10000' and sold.d_year = 1999 and cd_marital_status = 'D'
group by i_item_desc, w_warehouse_name, sold.d_week_seq
order by total desc, i_item_desc, w_warehouse_name, sold.d_week_seq
limit 100
