use differential_dataflow::operators::{CountTotal, ThresholdTotal};

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["orders", "lineitem"];

pub type Output = (Text, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1993, 7, 1), day(1993, 10, 1));
    let late = tables.lineitem.filter(|l| l.committed < l.received).map(|l| l.order);
    tables
        .orders
        .filter(move |o| o.day >= first && o.day < end)
        .map(|o| (o.key, o.priority))
        .semijoin(late.distinct_total())
        .map(|(_, priority)| priority)
        .count_total()
}
