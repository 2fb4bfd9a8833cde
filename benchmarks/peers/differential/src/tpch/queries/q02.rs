use super::{Rows, Tables};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["region", "nation", "supplier", "part", "partsupp"];

pub type Output = (isize, Text, Text, u32, Text, Text, Text, Text);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let europe = tables.region.filter(|r| r.name.0 == "EUROPE").map(|r| r.key);
    let nations = tables.nation.map(|n| (n.region, (n.key, n.name)));
    let nations = nations.semijoin(europe).map(|(_, nation)| nation);
    let suppliers = tables.supplier.map(|s| (s.nation, s));
    let suppliers = suppliers.join_map(nations, |_, s, nation| (s.key, (*s, *nation)));
    let parts = tables.part.filter(|p| p.size == 15 && p.kind.0.ends_with("BRASS"));
    tables
        .partsupp
        .map(|ps| (ps.part, (ps.supplier, ps.cost)))
        .join_map(parts.map(|p| (p.key, p.maker)), |part, (supplier, cost), maker| {
            (*supplier, (*part, *cost, *maker))
        })
        .join_map(suppliers, |_, (part, cost, maker), (s, nation)| {
            (*part, (*cost, -s.balance, *nation, s.name, *maker, s.address, s.phone, s.comment))
        })
        .reduce(|_, offers, kept| {
            let least = offers[0].0.0;
            let cheapest = offers.iter().take_while(|(offer, _)| offer.0 == least);
            kept.extend(cheapest.map(|(offer, count)| (**offer, *count)));
        })
        .map(|(part, (_, balance, nation, name, maker, address, phone, comment))| {
            ((), (balance, nation, name, part, maker, address, phone, comment))
        })
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(100).map(|(row, _)| (**row, 1))))
        .map(|(_, (balance, nation, name, part, maker, address, phone, comment))| {
            (-balance, name, nation, part, maker, address, phone, comment)
        })
}
