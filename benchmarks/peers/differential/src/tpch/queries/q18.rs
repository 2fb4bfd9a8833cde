use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["customer", "orders", "lineitem"];

pub type Output = (Text, u32, u32, i32, isize, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let large = tables
        .lineitem
        .explode(|l| Some((l.order, l.quantity)))
        .count_total()
        .filter(|(_, quantity)| *quantity > 30_000);
    let names = tables.customer.map(|c| (c.key, c.name));
    tables
        .orders
        .map(|o| (o.key, (o.customer, o.day, o.total)))
        .join_map(large, |order, (customer, day, total), quantity| {
            (*customer, (*order, *day, *total, *quantity))
        })
        .join_map(names, |customer, (order, day, total, quantity), name| {
            ((), (-total, *day, *order, *name, *customer, *quantity))
        })
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(100).map(|(row, _)| (**row, 1))))
        .map(|(_, (total, day, order, name, customer, quantity))| {
            (name, customer, order, day, -total, quantity)
        })
}
