use differential_dataflow::operators::{CountTotal, ThresholdTotal};

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["nation", "supplier", "part", "partsupp", "lineitem"];

pub type Output = (Text, Text);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1994, 1, 1), day(1995, 1, 1));
    let forest = tables.part.filter(|p| p.name.0.starts_with("forest")).map(|p| p.key);
    let forest = forest.arrange_by_self();
    let shipped = tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped < end)
        .explode(|l| Some(((l.part, l.supplier), l.quantity)))
        .arrange_by_key()
        .join_core(forest.clone(), |part, supplier, ()| Some((*part, *supplier)))
        .count_total();
    let surplus = tables
        .partsupp
        .map(|ps| (ps.part, (ps.supplier, ps.available)))
        .arrange_by_key()
        .join_core(forest, |part, (supplier, available), ()| {
            Some(((*part, *supplier), *available))
        })
        .join_map(shipped, |(_, supplier), available, quantity| {
            (*supplier, *available as isize * 200 > *quantity)
        })
        .filter(|(_, is_surplus)| *is_surplus)
        .map(|(supplier, _)| supplier)
        .distinct_total();
    let canada = tables.nation.filter(|n| n.name.0 == "CANADA").map(|n| n.key);
    tables
        .supplier
        .map(|s| (s.nation, s))
        .semijoin(canada)
        .map(|(_, s)| (s.key, (s.name, s.address)))
        .semijoin(surplus)
        .map(|(_, supplier)| supplier)
}
