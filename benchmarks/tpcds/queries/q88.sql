select *
from
    (select count(*) as h0
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 8 and t_minute >= 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s0,
    (select count(*) as h1
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 9 and t_minute < 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s1,
    (select count(*) as h2
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 9 and t_minute >= 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s2,
    (select count(*) as h3
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 10 and t_minute < 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s3,
    (select count(*) as h4
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 10 and t_minute >= 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s4,
    (select count(*) as h5
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 11 and t_minute < 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s5,
    (select count(*) as h6
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 11 and t_minute >= 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s6,
    (select count(*) as h7
     from store_sales, household_demographics, time_dim, store
     where ss_sold_time_sk = t_time_sk and ss_hdemo_sk = hd_demo_sk and ss_store_sk = s_store_sk
       and t_hour = 12 and t_minute < 30 and s_store_name = 'ese'
       and ((hd_dep_count = 4 and hd_vehicle_count <= 6) or (hd_dep_count = 2 and hd_vehicle_count <= 4)
         or (hd_dep_count = 0 and hd_vehicle_count <= 2))) s7
