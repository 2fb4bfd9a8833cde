use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::year;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["nation", "supplier", "part", "partsupp", "orders", "lineitem"];

pub type Output = (Text, i32, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let green = tables.part.filter(|p| p.name.0.contains("green")).map(|p| p.key);
    let costs = tables.partsupp.map(|ps| ((ps.part, ps.supplier), ps.cost));
    let years = tables.orders.map(|o| (o.key, year(o.day)));
    let nations = tables.nation.map(|n| (n.key, n.name));
    let suppliers = tables.supplier.map(|s| (s.nation, s.key));
    let suppliers = suppliers.join_map(nations, |_, key, name| (*key, *name));
    tables
        .lineitem
        .map(|l| (l.part, (l.supplier, l.order, l.revenue(), l.quantity)))
        .semijoin(green)
        .map(|(part, (supplier, order, revenue, quantity))| {
            ((part, supplier), (order, revenue, quantity))
        })
        .join_map(costs, |key, (order, revenue, quantity), cost| {
            (key.1, (*order, revenue - cost * quantity))
        })
        .join_map(suppliers, |_, (order, amount), nation| (*order, (*nation, *amount)))
        .join_map(years, |_, (nation, amount), year| (*nation, *year, *amount))
        .explode(|(nation, year, amount)| Some(((nation, year), (amount, 1))))
        .count_total()
        .map(|((nation, year), (amount, _))| (nation, year, amount))
}
