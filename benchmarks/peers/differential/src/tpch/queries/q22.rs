use differential_dataflow::operators::{CountTotal, ThresholdTotal};

use super::{Rows, Tables};
use crate::tpch::text::Text;

pub const TABLES: &[&str] = &["customer", "orders"];

pub type Output = (Text, isize, isize);

pub fn query(tables: Tables<'_>) -> Rows<'_, Output> {
    let customers = tables
        .customer
        .filter(|c| ["13", "31", "23", "29", "30", "18", "17"].contains(&&c.phone.0[..2]))
        .map(|c| (c.key, (Text(&c.phone.0[..2]), c.balance)));
    let average = customers
        .clone()
        .filter(|(_, (_, balance))| *balance > 0)
        .explode(|(_, (_, balance))| Some(((), (balance, 1))))
        .count_total();
    customers
        .antijoin(tables.orders.map(|o| o.customer).distinct_total())
        .map(|(_, customer)| ((), customer))
        .join_map(average, |_, (code, balance), (total, count)| {
            (*code, *balance, *balance * *count > *total)
        })
        .filter(|(_, _, is_above)| *is_above)
        .explode(|(code, balance, _)| Some((code, (1, balance))))
        .count_total()
        .map(|(code, (customers, balance))| (code, customers, balance))
}
