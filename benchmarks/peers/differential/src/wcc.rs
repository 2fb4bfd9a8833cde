//! The smallest node that each node is connected with.
//!
//! As in the crate's own connected components: a node that is the smaller end of some edge
//! proposes itself, small ones first, and labels go along the edges in both directions.

use differential_dataflow::VecCollection;
use differential_dataflow::algorithms::graphs::propagate::propagate_at;
use timely::dataflow::Scope;

use common::input::Pair;

pub fn build<'scope>(
    _scope: Scope<'scope, u64>,
    edges: VecCollection<'scope, u64, Pair>,
    _first: bool,
) -> VecCollection<'scope, u64, Pair> {
    let labels = edges.clone().map_in_place(|edge| {
        let least = edge.0.min(edge.1);
        *edge = (least, least);
    });
    let reversed = edges.clone().map_in_place(|edge| *edge = (edge.1, edge.0));
    propagate_at(edges.concat(reversed), labels.consolidate(), |label| u64::from(*label))
}
