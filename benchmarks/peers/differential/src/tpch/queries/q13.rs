use differential_dataflow::operators::CountTotal;

use super::{Rows, Tables};

pub const TABLES: &[&str] = &["customer", "orders"];

pub type Output = (isize, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
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
