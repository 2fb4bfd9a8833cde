//! The edges whose ends are in one strongly connected component: the crate's own algorithm.

use differential_dataflow::VecCollection;
use differential_dataflow::algorithms::graphs::scc::strongly_connected_at;
use timely::dataflow::Scope;

use common::input::Pair;

pub fn build<'scope>(
    _scope: Scope<'scope, u64>,
    edges: VecCollection<'scope, u64, Pair>,
    _first: bool,
) -> VecCollection<'scope, u64, Pair> {
    strongly_connected_at(edges, |node| u64::from(*node))
}
