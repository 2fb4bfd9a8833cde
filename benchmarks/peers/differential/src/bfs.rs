//! Distances from node 0.
//!
//! The loop of the crate's `algorithms::graphs::bfs`, rotated as its `propagate` is, so that the
//! arrangement that `reduce` makes is also the one that `join` reads.

use differential_dataflow::VecCollection;
use differential_dataflow::operators::iterate::Variable;
use differential_dataflow::trace::implementations::{ValBuilder, ValSpine};
use timely::dataflow::Scope;
use timely::order::Product;

use common::input::Pair;

use crate::graph::constant;

pub fn build<'scope>(
    scope: Scope<'scope, u64>,
    edges: VecCollection<'scope, u64, Pair>,
    first: bool,
) -> VecCollection<'scope, u64, Pair> {
    let roots = constant(scope, first.then_some((0, 0)));
    let edges = edges.arrange_by_key();
    scope.iterative::<u64, _, _>(|inner| {
        let edges = edges.enter(inner.clone());
        let roots = roots.enter(inner.clone());
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let distances = proposed
            .concat(roots)
            .reduce_abelian::<_, ValBuilder<_, _, _, _>, ValSpine<_, _, _, _>>(
                "Nearest",
                |_, from, to| to.push((*from[0].0, 1isize)),
            );
        proposals.set(
            distances.clone().join_core(edges, |_, distance, next| Some((*next, distance + 1))),
        );
        distances.as_collection(|node, distance| (*node, *distance)).leave(scope)
    })
}
