use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables, WithQuotient, quotient};
use crate::tpch::tables::{day, year};

pub const TABLES: &[&str] =
    &["region", "nation", "supplier", "part", "customer", "orders", "lineitem"];

pub type Output = WithQuotient<(i32,)>;

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let (first, last) = (day(1995, 1, 1), day(1996, 12, 31));
    let america = tables.region.filter(|r| r.name.0 == "AMERICA").map(|r| r.key);
    let nations = tables.nation.clone().map(|n| (n.region, n.key)).semijoin(america);
    let customers = tables.customer.map(|c| (c.nation, c.key));
    let customers = customers.semijoin(nations.map(|(_, nation)| nation)).map(|(_, key)| key);
    let orders = tables.orders.filter(move |o| o.day >= first && o.day <= last);
    let orders = orders.map(|o| (o.customer, (o.key, year(o.day)))).semijoin(customers);
    let parts = tables.part.filter(|p| p.kind.0 == "ECONOMY ANODIZED STEEL").map(|p| p.key);
    let suppliers = tables.supplier.map(|s| (s.nation, s.key));
    let suppliers = suppliers.join_map(
        tables.nation.map(|n| (n.key, n.name.0 == "BRAZIL")),
        |_, key, in_brazil| (*key, *in_brazil),
    );
    tables
        .lineitem
        .explode(|l| Some(((l.part, (l.order, l.supplier)), l.revenue())))
        .semijoin(parts)
        .map(|(_, line)| line)
        .join_map(orders.map(|(_, order)| order), |_, supplier, year| (*supplier, *year))
        .join_map(suppliers, |_, year, in_brazil| (*year, *in_brazil))
        .explode(|(year, in_brazil)| Some((year, (isize::from(in_brazil), 1))))
        .count_total()
        .map(|(year, (brazil, all))| WithQuotient((year,), quotient(brazil, all)))
}
