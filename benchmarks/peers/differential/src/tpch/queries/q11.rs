use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};

pub const TABLES: &[&str] = &["nation", "supplier", "partsupp"];

pub type Output = (u32, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let germany = tables.nation.filter(|n| n.name.0 == "GERMANY").map(|n| n.key);
    let suppliers = tables.supplier.map(|s| (s.nation, s.key)).semijoin(germany);
    let parts = tables
        .partsupp
        .explode(|ps| Some(((ps.supplier, ps.part), ps.cost * ps.available as isize)))
        .semijoin(suppliers.map(|(_, supplier)| supplier))
        .map(|(_, part)| part);
    let total = parts.clone().map(|_| ()).count_total();
    parts
        .count_total()
        .map(|part| ((), part))
        .join_map(total, |_, part, total| (*part, *total))
        .filter(|((_, value), total)| value * 10_000 > *total)
        .map(|(part, _)| part)
}
