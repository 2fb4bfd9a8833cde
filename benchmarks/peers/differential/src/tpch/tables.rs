//! Rows of the tables, read from `tpchgen-cli`'s text. Money and quantities are in hundredths, days
//! count from 1970.

use std::fs;
use std::hash::Hash;
use std::path::Path;
use std::str::Split;

use differential_dataflow::ExchangeData;
use serde::{Deserialize, Serialize};

use crate::tpch::text::Text;

/// The values of one line, in turn.
pub struct Values(Split<'static, char>);

impl Values {
    fn text(&mut self) -> Text {
        Text(self.0.next().expect("a value"))
    }

    fn key(&mut self) -> u32 {
        self.text().0.parse().expect("a number")
    }

    fn hundredths(&mut self) -> isize {
        let text = self.text().0;
        let (whole, part) = text.split_once('.').unwrap_or((text, "00"));
        let (whole, part): (isize, isize) = (whole.parse().unwrap(), part.parse().unwrap());
        100 * whole + if text.starts_with('-') { -part } else { part }
    }

    fn day(&mut self) -> i32 {
        let text = self.text().0;
        day(text[..4].parse().unwrap(), text[5..7].parse().unwrap(), text[8..].parse().unwrap())
    }
}

/// The days from 1970 to a date.
pub fn day(year: i32, month: i32, day: i32) -> i32 {
    let years = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 719_469
}

/// The year of a day.
pub fn year(of: i32) -> i32 {
    let guess = 1970 + of / 366;
    (guess..).find(|&year| of < day(year + 1, 1, 1)).expect("a year")
}

/// A row of a table, parsed from the values of its line.
pub trait Parse: ExchangeData {
    const TABLE: &'static str;
    type Key: ExchangeData + Hash;
    fn parse(values: &mut Values) -> Self;
    fn primary_key(&self) -> Self::Key;
}

/// The rows of a table in `folder`; their texts are never freed.
pub fn read<R: Parse>(folder: &str) -> Vec<R> {
    let path = Path::new(folder).join(R::TABLE).with_extension("tbl");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {path:?}: {e}"));
    let text: &'static str = text.leak();
    text.lines().map(|line| R::parse(&mut Values(line.split('|')))).collect()
}

macro_rules! table {
    ($row:ident of $table:literal by ($($key:ident),+) { $($column:ident: $kind:ty = $parse:ident),* $(,)? }) => {
        #[allow(dead_code)] // A row has all columns, and no query reads all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $row {
            $(pub $column: $kind,)*
        }

        impl Parse for $row {
            const TABLE: &'static str = $table;
            type Key = [u32; [$(stringify!($key)),+].len()];

            fn primary_key(&self) -> Self::Key {
                [$(self.$key),+]
            }

            fn parse(values: &mut Values) -> Self {
                $(let $column = values.$parse();)*
                $row { $($column),* }
            }
        }
    };
}

table!(Region of "region" by (key) { key: u32 = key, name: Text = text, comment: Text = text });

table!(Nation of "nation" by (key) { key: u32 = key, name: Text = text, region: u32 = key, comment: Text = text });

table!(Supplier of "supplier" by (key) {
    key: u32 = key,
    name: Text = text,
    address: Text = text,
    nation: u32 = key,
    phone: Text = text,
    balance: isize = hundredths,
    comment: Text = text,
});

table!(Part of "part" by (key) {
    key: u32 = key,
    name: Text = text,
    maker: Text = text,
    brand: Text = text,
    kind: Text = text,
    size: u32 = key,
    container: Text = text,
    price: isize = hundredths,
    comment: Text = text,
});

table!(PartSupp of "partsupp" by (part, supplier) {
    part: u32 = key,
    supplier: u32 = key,
    available: u32 = key,
    cost: isize = hundredths,
    comment: Text = text,
});

table!(Customer of "customer" by (key) {
    key: u32 = key,
    name: Text = text,
    address: Text = text,
    nation: u32 = key,
    phone: Text = text,
    balance: isize = hundredths,
    segment: Text = text,
    comment: Text = text,
});

table!(Order of "orders" by (key) {
    key: u32 = key,
    customer: u32 = key,
    status: Text = text,
    total: isize = hundredths,
    day: i32 = day,
    priority: Text = text,
    clerk: Text = text,
    ship_priority: u32 = key,
    comment: Text = text,
});

table!(LineItem of "lineitem" by (order, line) {
    order: u32 = key,
    part: u32 = key,
    supplier: u32 = key,
    line: u32 = key,
    quantity: isize = hundredths,
    price: isize = hundredths,
    discount: isize = hundredths,
    tax: isize = hundredths,
    return_flag: Text = text,
    status: Text = text,
    shipped: i32 = day,
    committed: i32 = day,
    received: i32 = day,
    instruction: Text = text,
    mode: Text = text,
    comment: Text = text,
});
