//! Where nulls flow to, and what pointers point to.
//!
//! As in the crate's `experiments/src/bin/graspan1.rs`, and in `graspan2.rs` where it is optimised;
//! but differences are numbers, since nulls go as well, where those have `Present`.

use differential_dataflow::operators::iterate::Variable;
use timely::order::Product;

use common::arguments::Arguments;
use common::input::{Pair, read};

use crate::outputs::{Meeting, Outputs, config};
use crate::programs::{Course, Pairs, Program, Replacing, Tables, name, reversed, rows};

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let measured = phases.chunk_by(|a, b| name(&a.case, 1) == name(&b.case, 1));
        for (tables, phases) in sections.chunks(2).zip(measured) {
            let mut course = Course::new(worker, 2);
            let mut outputs = Outputs::new(worker, &meeting);
            let program: Program<Pair> = match name(&phases[0].case, 1)[0] {
                "dataflow" => null_flow,
                _ => shared_memory,
            };
            for phase in phases {
                outputs.wait();
                let took = match name(&phase.case, 2)[1] {
                    "load" => course.load(worker, &[(0, &tables[0]), (1, &tables[1])]),
                    "analysis" => course.start(worker, program, &outputs),
                    _ => {
                        let nulls = Replacing { table: 0, removed: &tables[0], inserted: &[] };
                        course.follow(worker, phase, &[nulls], &mut outputs);
                        continue;
                    }
                };
                outputs.absorb(0);
                outputs.report(&phase.case, &[took]);
            }
        }
    })
    .unwrap();
}

/// Nulls with the variables that they flow into.
fn null_flow<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (nulls, assigned) = (reversed(tables.index(0)), tables.index(1));
    tables
        .scope
        .iterative::<u64, _, _>(|inner| {
            let (nulls, assigned) = (nulls.enter(inner.clone()), assigned.enter(inner.clone()));
            let (proposals, proposed) = Variable::new(inner, Product::new(0, 1));
            let flows = proposed.concat(nulls).distinct();
            proposals.set(
                flows.clone().arrange_by_key().join_core(assigned, |_, null, to| Some((*to, *null))),
            );
            flows.leave(tables.scope.clone())
        })
        .map(|(variable, null)| (null, variable))
}

/// The memory that two expressions share; assignments are by target.
fn shared_memory<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let (assigned, dereferences) = (tables.index(0), tables.index(1));
    let ends = rows(assigned.clone()).concat(rows(dereferences.clone()));
    let nodes = ends.flat_map(|(a, b)| [(a, a), (b, b)]);
    tables.scope.iterative::<u64, _, _>(|inner| {
        let (assigned, nodes) = (assigned.enter(inner.clone()), nodes.enter(inner.clone()));
        let dereferences = dereferences.enter(inner.clone());
        let (set_flow, flow) = Variable::new(inner.clone(), Product::new(0, 1));
        let (set_shared, shared) = Variable::new(inner, Product::new(0, 1));
        let shared = shared.arrange_by_key();

        // flow(a, b) <- assigned(x, a), [shared(x, y),] flow(y, b)
        let direct = assigned.clone().as_collection(|x, a| (*x, *a));
        let flows = assigned
            .join_core(shared.clone(), |_, a, y| Some((*y, *a)))
            .concat(direct)
            .arrange_by_key()
            .join_core(flow.clone().arrange_by_key(), |_, a, b| Some((*a, *b)))
            .concat(nodes)
            .distinct();

        // reaches(a, m) <- flow(a, x), dereferences(x, m)
        let reaches = flow
            .map(|(a, x): Pair| (x, a))
            .arrange_by_key()
            .join_core(dereferences, |_, a, m| Some((*a, *m)))
            .arrange_by_key();

        // shared(m, n) <- reaches(x, m), [shared(x, y),] reaches(y, n)
        let directly = reaches.clone().join_core(reaches.clone(), |_, m, n| Some((*m, *n)));
        let sharing = shared
            .join_core(reaches.clone(), |_, y, m| Some((*y, *m)))
            .arrange_by_key()
            .join_core(reaches, |_, m, n| Some((*m, *n)))
            .concat(directly)
            .distinct();

        set_flow.set(flows);
        set_shared.set(sharing.clone());
        sharing.leave(tables.scope.clone())
    })
}
