use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["orders", "lineitem"];

pub type Output = (Text, isize, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1994, 1, 1), day(1995, 1, 1));
    let orders = tables.orders.map(|o| (o.key, ["1-URGENT", "2-HIGH"].contains(&o.priority.0)));
    tables
        .lineitem
        .filter(|l| ["MAIL", "SHIP"].contains(&l.mode.0))
        .filter(|l| l.shipped < l.committed && l.committed < l.received)
        .filter(move |l| l.received >= first && l.received < end)
        .map(|l| (l.order, l.mode))
        .join_map(orders, |_, mode, is_high| (*mode, *is_high))
        .explode(|(mode, high)| Some((mode, (isize::from(high), isize::from(!high)))))
        .count_total()
        .map(|(mode, (high, low))| (mode, high, low))
}
