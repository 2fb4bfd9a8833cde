//! The queries, one a file, each with the columns of its select list but for averages.
//!
//! Sums are accumulated as differences, so that a group's rows need no arrangement of their own.

use common::report::Row;
use differential_dataflow::VecCollection;

use crate::tpch::stream::Case;
use crate::tpch::tables::{
    Customer, LineItem, Nation, Order, Part, PartSupp, Region, Supplier,
};

pub type Rows<'scope, R> = VecCollection<'scope, u64, R>;

/// The tables, and one row that is there from the start.
pub struct Tables<'scope> {
    pub one: Rows<'scope, ()>,
    pub region: Rows<'scope, Region>,
    pub nation: Rows<'scope, Nation>,
    pub supplier: Rows<'scope, Supplier>,
    pub part: Rows<'scope, Part>,
    pub partsupp: Rows<'scope, PartSupp>,
    pub customer: Rows<'scope, Customer>,
    pub orders: Rows<'scope, Order>,
    pub lineitem: Rows<'scope, LineItem>,
}

macro_rules! queries {
    ($($query:ident)*) => {
        $(mod $query;)*

        /// Measures the query that a case is about.
        pub fn measure(query: &str, case: Case) {
            match query {
                $(stringify!($query) => case.measure($query::TABLES, $query::query),)*
                other => panic!("no query {other}"),
            }
        }
    };
}

queries!(q01 q02 q03 q04 q05 q06 q07 q08 q09 q10 q11 q12 q13 q14 q15 q16 q17 q18 q19 q20 q21 q22);

impl LineItem {
    /// What the customer pays without tax, in ten-thousandths.
    fn revenue(&self) -> isize {
        self.price * (100 - self.discount)
    }
}

/// A row whose last column is a quotient, which changes it and is not digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WithQuotient<R>(R, Option<i128>);

impl<R: Row> Row for WithQuotient<R> {
    fn words(&self) -> impl IntoIterator<Item = u64> {
        self.0.words()
    }
}

/// A quotient with 20 digits after the point; None of nothing.
fn quotient(part: isize, whole: isize) -> Option<i128> {
    (whole != 0).then(|| part as i128 * 10_i128.pow(20) / whole as i128)
}
