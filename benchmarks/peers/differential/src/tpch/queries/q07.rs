use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::{day, year};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["nation", "supplier", "customer", "orders", "lineitem"];

pub type Output = (Text, Text, i32, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, last) = (day(1995, 1, 1), day(1996, 12, 31));
    let nations = tables.nation.filter(|n| ["FRANCE", "GERMANY"].contains(&n.name.0));
    let nations = nations.map(|n| (n.key, n.name)).arrange_by_key();
    let suppliers = tables.supplier.map(|s| (s.nation, s.key)).arrange_by_key();
    let suppliers = suppliers.join_core(nations.clone(), |_, key, name| Some((*key, *name)));
    let customers = tables.customer.map(|c| (c.nation, c.key)).arrange_by_key();
    let customers = customers.join_core(nations, |_, key, name| Some((*key, *name)));
    let orders = tables.orders.map(|o| (o.customer, o.key));
    let orders = orders.join_map(customers, |_, order, nation| (*order, *nation));
    tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped <= last)
        .explode(|l| Some(((l.supplier, (l.order, year(l.shipped))), l.revenue())))
        .join_map(suppliers, |_, (order, year), nation| (*order, (*nation, *year)))
        .join_map(orders, |_, (from, year), to| (*from, *to, *year))
        .filter(|(from, to, _)| from != to)
        .count_total()
        .map(|((from, to, year), revenue)| (from, to, year, revenue))
}
