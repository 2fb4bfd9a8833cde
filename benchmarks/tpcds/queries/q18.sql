select i_item_id, ca_country, ca_state, ca_county,
       avg(cast(cs_quantity as decimal(12, 2))) as quantity,
       avg(cast(cs_list_price as decimal(12, 2))) as listed,
       avg(cast(cs_coupon_amt as decimal(12, 2))) as coupon,
       avg(cast(cs_sales_price as decimal(12, 2))) as price,
       avg(cast(cs_net_profit as decimal(12, 2))) as profit,
       avg(cast(c_birth_year as decimal(12, 2))) as born,
       avg(cast(buyer.cd_dep_count as decimal(12, 2))) as dependents
from catalog_sales, customer_demographics buyer, customer_demographics other, customer, customer_address, date_dim, item
where cs_sold_date_sk = d_date_sk and cs_item_sk = i_item_sk and cs_bill_cdemo_sk = buyer.cd_demo_sk
  and cs_bill_customer_sk = c_customer_sk and buyer.cd_gender = 'F' and buyer.cd_education_status = 'Unknown'
  and c_current_cdemo_sk = other.cd_demo_sk and c_current_addr_sk = ca_address_sk
  and c_birth_month in (1, 6, 8, 9, 12, 2) and d_year = 1998
  and ca_state in ('MS', 'IN', 'ND', 'OK', 'NM', 'VA', 'CA')
group by rollup (i_item_id, ca_country, ca_state, ca_county)
order by ca_country, ca_state, ca_county, i_item_id
limit 100
