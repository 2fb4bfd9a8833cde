use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["nation", "customer", "orders", "lineitem"];

pub type Output = (u32, Text, isize, isize, Text, Text, Text, Text);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1993, 10, 1), day(1994, 1, 1));
    let returned = tables.lineitem.filter(|l| l.return_flag.0 == "R");
    let nations = tables.nation.map(|n| (n.key, n.name));
    tables
        .orders
        .filter(move |o| o.day >= first && o.day < end)
        .map(|o| (o.key, o.customer))
        .semijoin(returned.explode(|l| Some((l.order, l.revenue()))))
        .map(|(_, customer)| customer)
        .count_total()
        .join_map(tables.customer.map(|c| (c.key, c)), |_, revenue, c| (c.nation, (*revenue, *c)))
        .join_map(nations, |_, (revenue, c), nation| {
            ((), (-revenue, c.key, c.name, c.balance, *nation, c.address, c.phone, c.comment))
        })
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(20).map(|(row, _)| (**row, 1))))
        .map(|(_, (revenue, key, name, balance, nation, address, phone, comment))| {
            (key, name, -revenue, balance, nation, address, phone, comment)
        })
}
