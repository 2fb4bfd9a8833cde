with spending as (
    select c_customer_id as id, c_first_name as first_name, c_last_name as last_name,
           c_preferred_cust_flag as preferred, d_year as year, 's' as channel,
           sum((ss_ext_list_price - ss_ext_wholesale_cost - ss_ext_discount_amt + ss_ext_sales_price) / 2) as spent
    from customer
    join store_sales on ss_customer_sk = c_customer_sk
    join date_dim on d_date_sk = ss_sold_date_sk
    group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
    union all
    select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year, 'c',
           sum((cs_ext_list_price - cs_ext_wholesale_cost - cs_ext_discount_amt + cs_ext_sales_price) / 2)
    from customer
    join catalog_sales on cs_bill_customer_sk = c_customer_sk
    join date_dim on d_date_sk = cs_sold_date_sk
    group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
    union all
    select c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year, 'w',
           sum((ws_ext_list_price - ws_ext_wholesale_cost - ws_ext_discount_amt + ws_ext_sales_price) / 2)
    from customer
    join web_sales on ws_bill_customer_sk = c_customer_sk
    join date_dim on d_date_sk = ws_sold_date_sk
    group by c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
)
select s2.id, s2.first_name, s2.last_name, s2.preferred
from spending s1, spending s2, spending c1, spending c2, spending w1, spending w2
where s2.id = s1.id and c1.id = s1.id and c2.id = s1.id and w1.id = s1.id and w2.id = s1.id
  and s1.channel = 's' and s2.channel = 's' and c1.channel = 'c' and c2.channel = 'c'
  and w1.channel = 'w' and w2.channel = 'w'
  and s1.year = 2001 and s2.year = 2002 and c1.year = 2001 and c2.year = 2002
  and w1.year = 2001 and w2.year = 2002
  and s1.spent > 0 and c1.spent > 0 and w1.spent > 0
  and case when c1.spent > 0 then c2.spent / c1.spent end > case when s1.spent > 0 then s2.spent / s1.spent end
  and case when c1.spent > 0 then c2.spent / c1.spent end > case when w1.spent > 0 then w2.spent / w1.spent end
order by s2.id, s2.first_name, s2.last_name, s2.preferred
limit 100
