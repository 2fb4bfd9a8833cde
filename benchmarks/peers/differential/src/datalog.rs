//! Transitive closure and same generation, in full and of an argument that is a row of a table.
//!
//! As in the crate's `experiments/src/bin/deals.rs` and `deals-interactive.rs`; but differences are
//! numbers, since edges go as well, where `deals.rs` has `Present`, of which rows only come.

use differential_dataflow::operators::iterate::Variable;
use timely::order::Product;

use common::arguments::Arguments;
use common::input::{Pair, read};

use crate::outputs::{Meeting, Outputs, config};
use crate::programs::{Course, Index, Pairs, Program, Replacing, Tables, name, reversed, rows};

const EDGES: usize = 0;
const ASKED: usize = 1;

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let mut graphs = sections.chunks(5);
        let (mut of, mut graph) = ("", &sections[..]);
        for phases in phases.chunk_by(|a, b| name(&a.case, 2) == name(&b.case, 2)) {
            let [shape, program] = name(&phases[0].case, 2)[..] else { panic!("no program") };
            if of != shape {
                (of, graph) = (shape, graphs.next().unwrap());
            }
            let [edges, going, coming, old, new] = graph else { panic!("five sections expected") };
            let mut course = Course::new(worker, 2);
            course.load(worker, &[(EDGES, edges), (ASKED, &old[..1])]);
            let mut outputs = Outputs::new(worker, &meeting);
            outputs.wait();
            let took = course.start(worker, named(program), &outputs);
            outputs.absorb(0);
            for phase in phases {
                let replacing = match name(&phase.case, 3)[..] {
                    [_, _, "one edge"] => {
                        Replacing { table: EDGES, removed: going, inserted: coming }
                    }
                    [_, _, _] => Replacing { table: ASKED, removed: old, inserted: new },
                    _ => {
                        outputs.report(&phase.case, &[took]);
                        continue;
                    }
                };
                course.follow(worker, phase, &[replacing], &mut outputs);
            }
        }
    })
    .unwrap();
}

fn named(program: &str) -> Program<Pair> {
    match program {
        "tc" => closure,
        "sg" => same_generation,
        "tc(x,?)" => descendants,
        "tc(?,x)" => ancestors,
        "sg(x,?)" => same_as,
        other => panic!("no program {other}"),
    }
}

fn closure<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let edges = tables.index(EDGES);
    tables.scope.iterative::<u64, _, _>(|inner| {
        let edges = edges.enter(inner.clone());
        let (longer, found) = Variable::new(inner, Product::new(0, 1));
        let direct = edges.clone().as_collection(|x, y| (*x, *y));
        let paths = found
            .map(|(x, y): Pair| (y, x))
            .arrange_by_key()
            .join_core(edges, |_, x, z| Some((*x, *z)))
            .concat(direct)
            .distinct();
        longer.set(paths.clone());
        paths.leave(tables.scope.clone())
    })
}

fn same_generation<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let edges = tables.index(EDGES);
    let siblings = edges
        .clone()
        .join_core(edges.clone(), |_, x, y| Some((*x, *y)))
        .filter(|(x, y)| x != y);
    below(tables, siblings, edges.clone(), edges)
}

/// The pairs as many steps below `siblings`: those on the left along `left`, on the right `right`.
fn below<'scope>(
    tables: Tables<'_, 'scope>,
    siblings: Pairs<'scope>,
    left: Index<'scope>,
    right: Index<'scope>,
) -> Pairs<'scope> {
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (left, right) = (left.enter(inner.clone()), right.enter(inner.clone()));
        let siblings = siblings.enter(inner.clone());
        let (further, found) = Variable::new(inner, Product::new(0, 1));
        let same = found
            .arrange_by_key()
            .join_core(left, |_, b, x| Some((*b, *x)))
            .arrange_by_key()
            .join_core(right, |_, x, y| Some((*x, *y)))
            .concat(siblings)
            .distinct();
        further.set(same.clone());
        same.leave(tables.scope.clone())
    })
}

fn descendants<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let edges = tables.index(EDGES);
    reached(tables, edges).map(|(y, x)| (x, y))
}

fn ancestors<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let backwards = reversed(tables.index(EDGES)).arrange_by_key();
    reached(tables, backwards)
}

/// The nodes that edges lead to from those that are asked for, as (node, asked for).
fn reached<'scope>(mut tables: Tables<'_, 'scope>, edges: Index<'scope>) -> Pairs<'scope> {
    let first = tables.index(ASKED).join_core(edges.clone(), |x, _, y| Some((*y, *x)));
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (edges, first) = (edges.enter(inner.clone()), first.enter(inner.clone()));
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let reached = proposed.concat(first).distinct();
        proposals.set(
            reached.clone().arrange_by_key().join_core(edges, |_, x, next| Some((*next, *x))),
        );
        reached.leave(tables.scope.clone())
    })
}

fn same_as<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (edges, asked) = (tables.index(EDGES), rows(tables.index(ASKED)).map(|(x, _)| x));
    let backwards = reversed(edges.clone()).arrange_by_key();
    let above = tables.scope.iterative::<u64, _, _>(|inner| {
        let (up, asked) = (backwards.clone().enter(inner.clone()), asked.clone().enter(inner.clone()));
        let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
        let above = proposed.concat(asked).distinct();
        proposals.set(above.clone().arrange_by_self().join_core(up, |_, (), p| Some(*p)));
        above.leave(tables.scope.clone())
    });
    let relevant = backwards
        .join_core(above.arrange_by_self(), |x, p, ()| Some((*p, *x)))
        .arrange_by_key();
    let siblings = relevant
        .clone()
        .join_core(edges.clone(), |_, x, y| Some((*x, *y)))
        .filter(|(x, y)| x != y);
    below(tables, siblings, relevant, edges).semijoin(asked)
}
