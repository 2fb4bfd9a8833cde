use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["region", "nation", "supplier", "customer", "orders", "lineitem"];

pub type Output = (Text, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1994, 1, 1), day(1995, 1, 1));
    let asia = tables.region.filter(|r| r.name.0 == "ASIA").map(|r| r.key);
    let nations = tables.nation.map(|n| (n.region, (n.key, n.name)));
    let nations = nations.semijoin(asia).map(|(_, nation)| nation);
    let customers = tables.customer.map(|c| (c.nation, c.key));
    let customers = customers.join_map(nations, |nation, key, name| (*key, (*nation, *name)));
    let orders = tables.orders.filter(move |o| o.day >= first && o.day < end);
    let orders = orders.map(|o| (o.customer, o.key));
    let orders = orders.join_map(customers, |_, order, nation| (*order, *nation));
    tables
        .lineitem
        .explode(|l| Some(((l.order, l.supplier), l.revenue())))
        .join_map(orders, |_, supplier, (nation, name)| ((*supplier, *nation), *name))
        .semijoin(tables.supplier.map(|s| (s.key, s.nation)))
        .map(|(_, name)| name)
        .count_total()
}
