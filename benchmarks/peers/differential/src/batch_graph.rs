//! Graphs that are there from the start: two indices, and three computations over them.
//!
//! As in the crate's `experiments/src/bin/graphs-static.rs`, with times that let the edges change
//! later, and with loops rotated as in `bfs`.

use std::time::Duration;

use differential_dataflow::operators::iterate::Variable;
use differential_dataflow::trace::implementations::{ValBuilder, ValSpine};
use timely::order::Product;
use timely::worker::Worker;

use common::arguments::Arguments;
use common::input::{Pair, read};

use crate::outputs::{Meeting, Outputs, config};
use crate::programs::{Course, Pairs, Tables, name, rows};

const EDGES: usize = 0;
const ROOTS: usize = 1;
const BACKWARDS: usize = 2;

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let measured = phases.chunk_by(|a, b| name(&a.case, 1) == name(&b.case, 1));
        for (graph, phases) in sections.iter().zip(measured) {
            let mut course = Course::new(worker, 2);
            let root = graph.iter().map(|edge| edge.0).min().unwrap();
            course.load(worker, &[(ROOTS, &[(root, 0)])]);
            for phase in phases {
                let mut outputs = Outputs::new(worker, &meeting);
                outputs.wait();
                let what = name(&phase.case, 2)[1];
                let took = measure(&mut course, worker, what, graph, &outputs);
                outputs.absorb(0);
                outputs.report(&phase.case, &[took]);
            }
        }
    })
    .unwrap();
}

fn measure(
    course: &mut Course,
    worker: &mut Worker,
    what: &str,
    graph: &[Pair],
    outputs: &Outputs<Pair>,
) -> Duration {
    match what {
        "index forward" => course.load(worker, &[(EDGES, graph)]),
        "reach" => course.start(worker, reach, outputs),
        "distances" => course.start(worker, distances, outputs),
        "index backward" => course.reverse(worker, EDGES),
        "components" => course.start(worker, components, outputs),
        other => panic!("no computation {other}"),
    }
}

fn reach<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (edges, roots) = (tables.index(EDGES), rows(tables.index(ROOTS)));
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (edges, roots) = (edges.enter(inner.clone()), roots.enter(inner.clone()));
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let reached = proposed.concat(roots).distinct();
        proposals.set(
            reached.clone().arrange_by_key().join_core(edges, |_, root, next| Some((*next, *root))),
        );
        reached.leave(tables.scope.clone())
    })
}

fn distances<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (edges, roots) = (tables.index(EDGES), rows(tables.index(ROOTS)));
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (edges, roots) = (edges.enter(inner.clone()), roots.enter(inner.clone()));
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
        distances.as_collection(|node, distance| (*node, *distance)).leave(tables.scope.clone())
    })
}

fn components<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (edges, backwards) = (tables.index(EDGES), tables.index(BACKWARDS));
    let own = rows(edges.clone()).map_in_place(|edge| {
        let least = edge.0.min(edge.1);
        *edge = (least, least);
    });
    let own = own.consolidate();
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (edges, backwards) = (edges.enter(inner.clone()), backwards.enter(inner.clone()));
        // Small labels set out first, as in the crate's `propagate_at`.
        let own = own.enter_at(inner.clone(), |own| 256 * u64::from(32 - own.1.leading_zeros()));
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let labels = proposed
            .concat(own)
            .reduce_abelian::<_, ValBuilder<_, _, _, _>, ValSpine<_, _, _, _>>(
                "Least",
                |_, from, to| to.push((*from[0].0, 1isize)),
            );
        let forwards = labels.clone().join_core(edges, |_, label, next| Some((*next, *label)));
        let back = labels.clone().join_core(backwards, |_, label, next| Some((*next, *label)));
        proposals.set(forwards.concat(back));
        labels.as_collection(|node, label| (*node, *label)).leave(tables.scope.clone())
    })
}
