use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};
use crate::tpch::tables::Part;

pub const TABLES: &[&str] = &["part", "lineitem"];

pub type Output = (Option<isize>,);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let parts = tables.part.flat_map(|p| least(&p).map(|quantity| (p.key, quantity)));
    tables
        .lineitem
        .filter(|l| ["AIR", "AIR REG"].contains(&l.mode.0))
        .filter(|l| l.instruction.0 == "DELIVER IN PERSON")
        .explode(|l| Some(((l.part, l.quantity), l.revenue())))
        .join_map(parts, |_, quantity, least| (*quantity, *least))
        .filter(|(quantity, least)| (*least..=least + 1_000).contains(quantity))
        .explode(|_| Some(((), (1, 0))))
        .concat(tables.one.explode(|_| Some(((), (0, 1)))))
        .count_total()
        .map(|(_, (revenue, _))| ((revenue != 0).then_some(revenue),))
}

/// The least quantity, in hundredths, in which a part counts; None if it does in none.
fn least(part: &Part) -> Option<isize> {
    let (bag, kinds, size) = part.container.0.split_once(' ').and_then(|(bag, kind)| match bag {
        "SM" => Some((100, ["CASE", "BOX", "PACK", "PKG"].contains(&kind), 5)),
        "MED" => Some((1_000, ["BAG", "BOX", "PKG", "PACK"].contains(&kind), 10)),
        "LG" => Some((2_000, ["CASE", "BOX", "PACK", "PKG"].contains(&kind), 15)),
        _ => None,
    })?;
    let brand = match bag {
        100 => "Brand#12",
        1_000 => "Brand#23",
        _ => "Brand#34",
    };
    (kinds && part.brand.0 == brand && (1..=size).contains(&part.size)).then_some(bag)
}
