use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["nation", "supplier", "orders", "lineitem"];

pub type Output = (Text, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let arabia = tables.nation.filter(|n| n.name.0 == "SAUDI ARABIA").map(|n| n.key);
    let suppliers = tables.supplier.map(|s| (s.nation, (s.key, s.name))).semijoin(arabia);
    let failed = tables.orders.filter(|o| o.status.0 == "F").map(|o| o.key);
    tables
        .lineitem
        .map(|l| (l.order, (l.received <= l.committed, l.supplier)))
        .semijoin(failed)
        .reduce(|_, lines, waited| {
            // The late lines come first.
            let ((on_time, supplier), _) = (*lines[0].0, lines[0].1);
            let others = lines.iter().filter(|((_, other), _)| *other != supplier);
            if !on_time && others.clone().count() > 0 && others.clone().all(|((at, _), _)| *at) {
                waited.push((supplier, lines[0].1));
            }
        })
        .map(|(_, supplier)| (supplier, ()))
        .join_map(suppliers.map(|(_, supplier)| supplier), |_, (), name| *name)
        .count_total()
        .map(|(name, count)| ((), (-count, name)))
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(100).map(|(row, _)| (**row, 1))))
        .map(|(_, (count, name))| (name, -count))
}
