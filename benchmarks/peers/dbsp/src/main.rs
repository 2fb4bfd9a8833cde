//! Workloads of `benchmarks/`, written for dbsp.
//!
//! A transaction is dbsp's logical time: a round of several times is as many transactions.

use std::time::{Duration, Instant};

use common::arguments::{Arguments, Phase};
use common::input::{Pair, read};
use common::report::Answer;
use dbsp::mimalloc::MiMalloc;
use dbsp::operator::{Generator, Min};
use dbsp::typed_batch::{IndexedZSetReader, SpineSnapshot};
use dbsp::utils::Tup2;
use dbsp::{
    Circuit, DBSPHandle, NestedCircuit, OrdZSet, OutputHandle, RootCircuit, Runtime, Stream,
    ZSetHandle,
};

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

const ROOTS: u32 = 10;

type Edge = Tup2<u32, u32>;
type Rows<C> = Stream<C, OrdZSet<Edge>>;
// A transaction puts out a large answer in several steps, which are accumulated.
type Output = OutputHandle<SpineSnapshot<OrdZSet<Edge>>>;

fn main() {
    let arguments = Arguments::parse();
    let program = match arguments.workload.as_str() {
        "bfs" => distances,
        "count" => counts,
        "reach" => reached,
        other => panic!("no workload {other}"),
    };
    let sections = read(&arguments.file);
    let [initial, removed, inserted] = &sections[..] else { panic!("three sections expected") };
    let (handle, (edges, output)) = Runtime::init_circuit(arguments.workers, move |circuit| {
        let (edges, input) = circuit.add_input_zset::<Edge>();
        Ok((input, program(circuit, edges).accumulate_output()))
    })
    .expect("a circuit");
    let mut course = Course { handle, edges, output, answer: Answer::default(), differences: 0 };
    let began = Instant::now();
    course.change(initial, 1);
    course.handle.transaction().expect("a transaction");
    let took = began.elapsed();
    course.report("load", &[took]);
    let mut at = 0;
    for phase in &arguments.phases {
        let times: Vec<_> = (0..phase.rounds)
            .map(|_| {
                let end = at + phase.times * phase.size;
                let took = course.round(&removed[at..end], &inserted[at..end], phase);
                at = end;
                took
            })
            .collect();
        course.report(&phase.case, &times);
    }
    course.handle.kill().expect("an end");
}

struct Course {
    handle: DBSPHandle,
    edges: ZSetHandle<Edge>,
    output: Output,
    answer: Answer,
    differences: usize,
}

impl Course {
    fn change(&self, rows: &[Pair], weight: i64) {
        let mut changes = rows.iter().map(|row| Tup2(Tup2(row.0, row.1), weight)).collect();
        self.edges.append(&mut changes);
    }

    /// Replaces edges; the output of each transaction is read out of the measured time.
    fn round(&mut self, removed: &[Pair], inserted: &[Pair], phase: &Phase) -> Duration {
        let mut took = Duration::ZERO;
        for (removed, inserted) in removed.chunks(phase.size).zip(inserted.chunks(phase.size)) {
            let began = Instant::now();
            self.change(removed, -1);
            self.change(inserted, 1);
            self.handle.transaction().expect("a transaction");
            took += began.elapsed();
            self.absorb();
        }
        took
    }

    fn absorb(&mut self) {
        for (Tup2(first, second), (), weight) in self.output.concat().consolidate().iter() {
            self.answer.absorb(&(first, second), weight);
            self.differences += 1;
        }
    }

    fn report(&mut self, case: &str, times: &[Duration]) {
        self.absorb();
        self.answer.print(case, times, self.differences);
        self.differences = 0;
    }
}

/// Rows that are there from the first transaction on.
fn constant(circuit: &RootCircuit, rows: Vec<Edge>) -> Rows<RootCircuit> {
    let mut once = Some(rows);
    circuit.add_source(Generator::new(move || {
        let rows = once.take().filter(|_| Runtime::worker_index() == 0).unwrap_or_default();
        OrdZSet::from_keys((), rows.into_iter().map(|row| Tup2(row, 1)).collect())
    }))
}

/// How often each key occurs.
fn counts(_: &mut RootCircuit, rows: Rows<RootCircuit>) -> Rows<RootCircuit> {
    let keys = rows.map(|Tup2(key, _)| *key);
    keys.weighted_count().map(|(key, count)| Tup2(*key, *count as u32))
}

/// Distances from node 0, as (node, distance).
fn distances(circuit: &mut RootCircuit, edges: Rows<RootCircuit>) -> Rows<RootCircuit> {
    let roots = constant(circuit, vec![Tup2(0, 0)]);
    let edges = edges.map_index(|Tup2(source, target)| (*source, *target));
    circuit
        .recursive(|child, known: Rows<NestedCircuit>| {
            let edges = edges.delta0(child);
            let proposed = known
                .map_index(|Tup2(node, distance)| (*node, *distance))
                .join(&edges, |_, distance, next| Tup2(*next, distance + 1))
                .plus(&roots.delta0(child));
            let least =
                proposed.map_index(|Tup2(node, distance)| (*node, *distance)).aggregate(Min);
            Ok(least.map(|(node, distance)| Tup2(*node, *distance)))
        })
        .expect("a loop")
}

/// What each of ten roots reaches, as (node, root).
fn reached(circuit: &mut RootCircuit, edges: Rows<RootCircuit>) -> Rows<RootCircuit> {
    let roots = constant(circuit, (0..ROOTS).map(|root| Tup2(root, root)).collect());
    let edges = edges.map_index(|Tup2(source, target)| (*source, *target));
    circuit
        .recursive(|child, known: Rows<NestedCircuit>| {
            let along = known
                .map_index(|Tup2(node, root)| (*node, *root))
                .join(&edges.delta0(child), |_, root, next| Tup2(*next, *root));
            Ok(along.plus(&roots.delta0(child)))
        })
        .expect("a loop")
}
