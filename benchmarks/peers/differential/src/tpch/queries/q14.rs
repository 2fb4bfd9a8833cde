use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables, WithQuotient, quotient};
use crate::tpch::tables::day;

pub const TABLES: &[&str] = &["part", "lineitem"];

pub type Output = WithQuotient<(u32,)>;

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, end) = (day(1995, 9, 1), day(1995, 10, 1));
    let parts = tables.part.map(|p| (p.key, p.kind.0.starts_with("PROMO")));
    tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped < end)
        .explode(|l| Some(((l.part, ()), l.revenue())))
        .join_map(parts, |_, (), is_promotion| *is_promotion)
        .explode(|is_promotion| Some(((), (isize::from(is_promotion), 1, 0))))
        .concat(tables.one.explode(|_| Some(((), (0, 0, 1)))))
        .count_total()
        .map(|(_, (promotion, all, _))| WithQuotient((0,), quotient(promotion, all)))
}
