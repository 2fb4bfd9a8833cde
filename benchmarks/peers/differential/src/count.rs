//! How often each key occurs, counted from the start on.

use differential_dataflow::VecCollection;
use differential_dataflow::operators::CountTotal;
use timely::dataflow::Scope;

use common::input::Pair;

pub fn build<'scope>(
    _: Scope<'scope, u64>,
    rows: VecCollection<'scope, u64, Pair>,
    _: bool,
) -> VecCollection<'scope, u64, Pair> {
    rows.map(|(key, _)| key).count_total().map(|(key, count)| (key, count as u32))
}
