//! The queries, each with the columns of its select list but for averages.
//!
//! Sums are accumulated as differences, so that a group's rows need no arrangement of their own.

use differential_dataflow::VecCollection;
use differential_dataflow::operators::CountTotal;

use crate::tpch::tables::{Customer, LineItem, Nation, Order, Part, PartSupp, Supplier, day, year};
use crate::tpch::text::Text;

pub type Rows<'scope, R> = VecCollection<'scope, u64, R>;

/// The tables that some query reads.
pub struct Tables<'scope> {
    pub nation: Rows<'scope, Nation>,
    pub supplier: Rows<'scope, Supplier>,
    pub part: Rows<'scope, Part>,
    pub partsupp: Rows<'scope, PartSupp>,
    pub customer: Rows<'scope, Customer>,
    pub orders: Rows<'scope, Order>,
    pub lineitem: Rows<'scope, LineItem>,
}

impl LineItem {
    /// What the customer pays without tax, in ten-thousandths.
    fn revenue(&self) -> isize {
        self.price * (100 - self.discount)
    }
}

pub type Q01 = (Text, Text, isize, isize, isize, isize, isize);

pub fn q01(tables: Tables<'_>) -> Rows<'_, Q01> {
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

pub type Q03 = (u32, isize, i32, u32);

pub fn q03(tables: Tables<'_>) -> Rows<'_, Q03> {
    let date = day(1995, 3, 15);
    let customers = tables.customer.filter(|c| c.segment.0 == "BUILDING").map(|c| c.key);
    let lines = tables.lineitem.filter(move |l| l.shipped > date);
    tables
        .orders
        .filter(move |o| o.day < date)
        .map(|o| (o.customer, (o.key, o.day, o.ship_priority)))
        .semijoin(customers)
        .map(|(_, (order, day, priority))| (order, (day, priority)))
        .semijoin(lines.explode(|l| Some((l.order, l.revenue()))))
        .count_total()
        .map(|((order, (day, priority)), revenue)| ((), (-revenue, day, order, priority)))
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(10).map(|(row, _)| (**row, 1))))
        .map(|(_, (revenue, day, order, priority))| (order, -revenue, day, priority))
}

pub type Q06 = (Option<isize>,);

pub fn q06<'scope>(tables: Tables<'scope>, one: Rows<'scope, ()>) -> Rows<'scope, Q06> {
    let (first, end) = (day(1994, 1, 1), day(1995, 1, 1));
    tables
        .lineitem
        .filter(move |l| l.shipped >= first && l.shipped < end)
        .filter(|l| (5..=7).contains(&l.discount) && l.quantity < 2400)
        .explode(|l| Some(((), (l.price * l.discount, 1))))
        .concat(one.explode(|_| Some(((), (0, 1)))))
        .count_total()
        .map(|(_, (revenue, count))| (if count == 1 { None } else { Some(revenue) },))
}

pub type Q09 = (Text, i32, isize);

pub fn q09(tables: Tables<'_>) -> Rows<'_, Q09> {
    let green = tables.part.filter(|p| p.name.0.contains("green")).map(|p| p.key);
    let costs = tables.partsupp.map(|ps| ((ps.part, ps.supplier), ps.cost));
    let years = tables.orders.map(|o| (o.key, year(o.day)));
    let nations = tables.nation.map(|n| (n.key, n.name));
    let suppliers = tables.supplier.map(|s| (s.nation, s.key));
    let suppliers = suppliers.join_map(nations, |_, key, name| (*key, *name));
    tables
        .lineitem
        .map(|l| (l.part, (l.supplier, l.order, l.revenue(), l.quantity)))
        .semijoin(green)
        .map(|(part, (supplier, order, revenue, quantity))| {
            ((part, supplier), (order, revenue, quantity))
        })
        .join_map(costs, |key, (order, revenue, quantity), cost| {
            (key.1, (*order, revenue - cost * quantity))
        })
        .join_map(suppliers, |_, (order, amount), nation| (*order, (*nation, *amount)))
        .join_map(years, |_, (nation, amount), year| (*nation, *year, *amount))
        .explode(|(nation, year, amount)| Some(((nation, year), (amount, 1))))
        .count_total()
        .map(|((nation, year), (amount, _))| (nation, year, amount))
}

pub type Q13 = (isize, isize);

pub fn q13(tables: Tables<'_>) -> Rows<'_, Q13> {
    let customers = tables.customer.map(|c| c.key);
    let orders = tables.orders.filter(|o| !o.comment.has_in_turn("special", "requests"));
    orders
        .map(|o| (o.customer, ()))
        .semijoin(customers.clone())
        .map(|(customer, ())| customer)
        .concat(customers)
        .count_total()
        .map(|(_, count)| count - 1)
        .count_total()
}

pub type Q18 = (Text, u32, u32, i32, isize, isize);

pub fn q18(tables: Tables<'_>) -> Rows<'_, Q18> {
    let large = tables
        .lineitem
        .explode(|l| Some((l.order, l.quantity)))
        .count_total()
        .filter(|(_, quantity)| *quantity > 30_000);
    let names = tables.customer.map(|c| (c.key, c.name));
    tables
        .orders
        .map(|o| (o.key, (o.customer, o.day, o.total)))
        .join_map(large, |order, (customer, day, total), quantity| {
            (*customer, (*order, *day, *total, *quantity))
        })
        .join_map(names, |customer, (order, day, total, quantity), name| {
            ((), (-total, *day, *order, *name, *customer, *quantity))
        })
        .reduce(|_, rows, kept| kept.extend(rows.iter().take(100).map(|(row, _)| (**row, 1))))
        .map(|(_, (total, day, order, name, customer, quantity))| {
            (name, customer, order, day, -total, quantity)
        })
}
