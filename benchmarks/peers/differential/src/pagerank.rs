//! The rank of each node after twenty rounds, in millionths.
//!
//! As in the crate's own example `pagerank`: a node is there as often as its rank is high, and what
//! goes along its edges is a threshold of that; with the numbers of `views/programs/pagerank.sql`,
//! of which `STEP` is a parameter.

use differential_dataflow::operators::iterate::Variable;
use differential_dataflow::{AsCollection, VecCollection};
use timely::dataflow::Scope;
use timely::dataflow::operators::vec::Filter;
use timely::order::Product;

use common::input::Pair;

const ROUNDS: u64 = 20;
const RESET: isize = 150_000;

pub fn build<'scope, const STEP: isize>(
    scope: Scope<'scope, u64>,
    edges: VecCollection<'scope, u64, Pair>,
    _first: bool,
) -> VecCollection<'scope, u64, Pair> {
    let nodes = edges.clone().flat_map(|(src, dst)| [src, dst]).distinct();
    let degrees = edges.clone().map(|(src, _)| src).count();
    let ranks = scope.iterative::<u64, _, _>(|inner| {
        let edges = edges.enter(inner.clone());
        let degrees = degrees.enter(inner.clone());
        let reset = nodes.enter(inner.clone()).explode(|node| Some((node, RESET)));
        let (ranks, ranked) = Variable::new(inner, Product::new(0, 1));
        let shares = degrees
            .semijoin(ranked)
            .threshold(|(_, degree), rank| rank * 85 / (100 * STEP * degree) * STEP)
            .map(|(node, _)| node);
        let pushed = edges.semijoin(shares).map(|(_, dst)| dst).concat(reset).consolidate();
        let pushed = pushed.inner.filter(|(_, time, _)| time.inner < ROUNDS).as_collection();
        ranks.set(pushed.clone());
        pushed.leave(scope)
    });
    ranks.count().map(|(node, rank)| (node, rank as u32))
}
