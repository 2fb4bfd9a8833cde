use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::day;
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["lineitem"];

pub type Output = (Text, Text, isize, isize, isize, isize, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let last = day(1998, 12, 1) - 90;
    tables
        .lineitem
        .filter(move |l| l.shipped <= last)
        .explode(|l| {
            let charge = l.revenue() * (100 + l.tax);
            Some(((l.return_flag, l.status), ((l.quantity, l.price), (l.revenue(), charge, 1))))
        })
        .count_total()
        .map(|((flag, status), ((quantity, price), (revenue, charge, count)))| {
            (flag, status, quantity, price, revenue, charge, count)
        })
}
