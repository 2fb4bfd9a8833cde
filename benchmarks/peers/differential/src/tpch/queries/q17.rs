use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables, WithQuotient};

pub const TABLES: &[&str] = &["part", "lineitem"];

pub type Output = WithQuotient<(u32,)>;

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let parts = tables.part.filter(|p| p.brand.0 == "Brand#23" && p.container.0 == "MED BOX");
    tables
        .lineitem
        .map(|l| (l.part, (l.quantity, l.price)))
        .semijoin(parts.map(|p| p.key))
        .reduce(|_, lines, small| {
            let count: isize = lines.iter().map(|(_, count)| count).sum();
            let total: isize = lines.iter().map(|((quantity, _), count)| quantity * count).sum();
            let below = lines.iter().take_while(|((quantity, _), _)| 5 * quantity * count < total);
            small.push((below.map(|((_, price), count)| price * count).sum::<isize>(), 1));
        })
        .explode(|(_, price)| Some(((), (price, 0))))
        .concat(tables.one.explode(|_| Some(((), (0, 1)))))
        .count_total()
        .map(|(_, (price, _))| WithQuotient((0,), (price != 0).then_some(price as i128)))
}
