use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["supplier", "lineitem"];

pub type Output = (u32, Text, Text, Text, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1996, 1, 1), day(1996, 4, 1));
    let revenues = tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped < end)
        .explode(|l| Some((l.supplier, l.revenue())))
        .count_total()
        .map(|(supplier, revenue)| (-revenue, supplier));
    let suppliers = tables.supplier.map(|s| (s.key, (s.name, s.address, s.phone)));
    // The best of many groups, then of few, then of all: a changed supplier is compared with few others.
    best(best(best(revenues, 1_000), 30), 1)
        .map(|(revenue, supplier)| (supplier, -revenue))
        .join_map(suppliers, |supplier, revenue, (name, address, phone)| {
            (*supplier, *name, *address, *phone, *revenue)
        })
}

/// Of the suppliers in each of `groups` groups those with the most revenue, which is negative here.
fn best(revenues: Rows<'_, (isize, u32)>, groups: u32) -> Rows<'_, (isize, u32)> {
    revenues
        .map(move |(revenue, supplier)| (supplier % groups, (revenue, supplier)))
        .reduce(|_, suppliers, kept| {
            let most = suppliers[0].0.0;
            let best = suppliers.iter().take_while(|(supplier, _)| supplier.0 == most);
            kept.extend(best.map(|(supplier, _)| (**supplier, 1)));
        })
        .map(|(_, supplier)| supplier)
}
