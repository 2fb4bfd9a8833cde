with refunded as (
    select cs_item_sk as item
    from catalog_sales, catalog_returns
    where cs_item_sk = cr_item_sk and cs_order_number = cr_order_number
    group by cs_item_sk
    having sum(cs_ext_list_price) > 2 * sum(cr_refunded_cash + cr_reversed_charge + cr_store_credit)
), bought as (
    select i_product_name as product, i_item_sk as item, s_store_name as store, s_zip as zip,
           was.ca_street_number as old_number, was.ca_street_name as old_street, was.ca_city as old_city, was.ca_zip as old_zip,
           now.ca_street_number as new_number, now.ca_street_name as new_street, now.ca_city as new_city, now.ca_zip as new_zip,
           sold.d_year as year, first_sale.d_year as first_year, first_shipped.d_year as shipped_year,
           count(*) as number, sum(ss_wholesale_cost) as cost, sum(ss_list_price) as listed, sum(ss_coupon_amt) as coupon
    from store_sales, store_returns, refunded, date_dim sold, date_dim first_sale, date_dim first_shipped, store, customer,
         customer_demographics buyer, customer_demographics other, promotion, household_demographics h1,
         household_demographics h2, customer_address was, customer_address now, income_band i1, income_band i2, item
    where ss_store_sk = s_store_sk and ss_sold_date_sk = sold.d_date_sk and ss_customer_sk = c_customer_sk
      and ss_cdemo_sk = buyer.cd_demo_sk and ss_hdemo_sk = h1.hd_demo_sk and ss_addr_sk = was.ca_address_sk
      and ss_item_sk = i_item_sk and ss_item_sk = sr_item_sk and ss_ticket_number = sr_ticket_number
      and ss_item_sk = refunded.item and c_current_cdemo_sk = other.cd_demo_sk and c_current_hdemo_sk = h2.hd_demo_sk
      and c_current_addr_sk = now.ca_address_sk and c_first_sales_date_sk = first_sale.d_date_sk
      and c_first_shipto_date_sk = first_shipped.d_date_sk and ss_promo_sk = p_promo_sk
      and h1.hd_income_band_sk = i1.ib_income_band_sk and h2.hd_income_band_sk = i2.ib_income_band_sk
      and buyer.cd_marital_status <> other.cd_marital_status
      and i_color in ('purple', 'burlywood', 'indian', 'spring', 'floral', 'medium')
      and i_current_price between 64 and 74 and i_current_price between 65 and 79
    group by i_product_name, i_item_sk, s_store_name, s_zip, was.ca_street_number, was.ca_street_name, was.ca_city,
             was.ca_zip, now.ca_street_number, now.ca_street_name, now.ca_city, now.ca_zip, sold.d_year,
             first_sale.d_year, first_shipped.d_year
)
select a.product, a.store, a.zip, a.old_number, a.old_street, a.old_city, a.old_zip, a.new_number, a.new_street,
       a.new_city, a.new_zip, a.year, a.number, a.cost, a.listed, a.coupon,
       b.cost as next_cost, b.listed as next_listed, b.coupon as next_coupon, b.year as next_year, b.number as next_number
from bought a, bought b
where a.item = b.item and a.year = 1999 and b.year = 2000 and b.number <= a.number
  and a.store = b.store and a.zip = b.zip
order by a.product, a.store, b.number, a.cost, b.cost
