use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;

pub const TABLES: &[&str] = &["lineitem"];

pub type Output = (Option<isize>,);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1994, 1, 1), day(1995, 1, 1));
    tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped < end)
        .filter(|l| (5..=7).contains(&l.discount) && l.quantity < 2400)
        .explode(|l| Some(((), (l.price * l.discount, 1))))
        .concat(tables.one.explode(|_| Some(((), (0, 1)))))
        .count_total()
        .map(|(_, (revenue, count))| (if count == 1 { None } else { Some(revenue) },))
}
