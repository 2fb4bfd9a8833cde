//! The nodes that each of ten roots reaches, as (node, root).

use differential_dataflow::VecCollection;
use differential_dataflow::operators::iterate::Variable;
use timely::dataflow::Scope;
use timely::order::Product;

use common::input::Pair;

use crate::graph::constant;

const ROOTS: u32 = 10;

pub fn build<'scope>(
    scope: Scope<'scope, u64>,
    edges: VecCollection<'scope, u64, Pair>,
    first: bool,
) -> VecCollection<'scope, u64, Pair> {
    let roots = if first { 0..ROOTS } else { 0..0 };
    let roots = constant(scope, roots.map(|root| (root, root)));
    let edges = edges.arrange_by_key();
    scope.iterative::<u64, _, _>(|inner| {
        let edges = edges.enter(inner.clone());
        let roots = roots.enter(inner.clone());
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let reached = proposed.concat(roots).distinct();
        proposals.set(
            reached.clone().arrange_by_key().join_core(edges, |_, root, next| Some((*next, *root))),
        );
        reached.leave(scope)
    })
}
