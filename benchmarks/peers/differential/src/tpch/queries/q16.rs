use differential_dataflow::operators::{CountTotal, ThresholdTotal};

use super::{Rows, Tables};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["supplier", "part", "partsupp"];

pub type Output = (Text, Text, u32, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let complaints = tables.supplier.filter(|s| s.comment.has_in_turn("Customer", "Complaints"));
    let parts = tables
        .part
        .filter(|p| p.brand.0 != "Brand#45" && !p.kind.0.starts_with("MEDIUM POLISHED"))
        .filter(|p| [49, 14, 23, 45, 19, 3, 36, 9].contains(&p.size));
    tables
        .partsupp
        .map(|ps| (ps.part, ps.supplier))
        .join_map(parts.map(|p| (p.key, (p.brand, p.kind, p.size))), |_, supplier, part| {
            (*supplier, *part)
        })
        .antijoin(complaints.map(|s| s.key))
        .distinct_total()
        .map(|(_, part)| part)
        .count_total()
        .map(|((brand, kind, size), suppliers)| (brand, kind, size, suppliers))
}
