use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;

pub const TABLES: &[&str] = &["customer", "orders", "lineitem"];

pub type Output = (u32, isize, i32, u32);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let date = day(1995, 3, 15);
    let customers = tables.customer.filter(|c| c.segment.0 == "BUILDING").map(|c| c.key);
    let lines = tables.lineitem.filter(move |l| l.shipped > date);
    tables
        .orders
        .filter(move |o| o.day < date)
        .map(|o| (o.customer, (o.key, o.day, o.ship_priority)))
        .semijoin(customers)
        .map(|(_, (order, day, priority))| (order, (day, priority)))
        .semijoin(lines.explode(|l| Some((l.order, l.revenue()))))
        .count_total()
        .map(|((order, (day, priority)), revenue)| ((), (-revenue, day, order, priority)))
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(10).map(|(row, _)| (**row, 1))))
        .map(|(_, (revenue, day, order, priority))| (order, -revenue, day, priority))
}
