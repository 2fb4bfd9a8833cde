//! Programs over tables of pairs that are arranged already, and then change.
//!
//! A program imports the arrangements of its tables, and is there once its output has passed their
//! present time. Then the tables change, and it follows.

use std::time::{Duration, Instant};

use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::arrange::{Arranged, ShutdownButton, TraceAgent};
use differential_dataflow::trace::TraceReader;
use differential_dataflow::trace::implementations::ValSpine;
use differential_dataflow::{Data, VecCollection};
use timely::dataflow::Scope;
use timely::dataflow::operators::{CapabilitySet, Probe};
use timely::dataflow::operators::probe::Handle;
use timely::progress::frontier::AntichainRef;
use timely::worker::Worker;

use common::arguments::Phase;
use common::input::Pair;
use common::report::Row;

use crate::outputs::Outputs;

pub type Trace = TraceAgent<ValSpine<u32, u32, u64, isize>>;
pub type Index<'scope> = Arranged<'scope, Trace>;
pub type Pairs<'scope> = VecCollection<'scope, u64, Pair>;

/// Rows of the table with a number that go one after another, and those that come in their place.
#[derive(Clone, Copy)]
pub struct Replacing<'a> {
    pub table: usize,
    pub removed: &'a [Pair],
    pub inserted: &'a [Pair],
}

/// The arrangements that a program may import.
pub struct Tables<'a, 'scope> {
    pub scope: Scope<'scope, u64>,
    traces: &'a mut [Trace],
    imports: &'a mut Vec<ShutdownButton<CapabilitySet<u64>>>,
}

impl<'scope> Tables<'_, 'scope> {
    pub fn index(&mut self, number: usize) -> Index<'scope> {
        let (index, button) = self.traces[number].import_core(self.scope.clone(), "table");
        self.imports.push(button);
        index
    }
}

/// The first parts of a case's name, which has commas between them.
pub fn name(case: &str, parts: usize) -> Vec<&str> {
    case.split(", ").take(parts).collect()
}

pub type Program<R> = for<'scope> fn(Tables<'_, 'scope>) -> VecCollection<'scope, u64, R>;

pub struct Course {
    index: usize,
    peers: usize,
    tables: Vec<InputSession<u64, Pair, isize>>,
    traces: Vec<Trace>,
    imports: Vec<ShutdownButton<CapabilitySet<u64>>>,
    /// Of the tables, and of the program.
    probe: Handle<u64>,
    time: u64,
    idle: usize,
}

impl Course {
    /// Each of so many tables arranged by its first column.
    pub fn new(worker: &mut Worker, tables: usize) -> Self {
        let probe = Handle::new();
        let (index, peers) = (worker.index(), worker.peers());
        let (tables, traces) = worker.dataflow(|scope| {
            let arrange = |_| {
                let (input, rows) = scope.new_collection();
                let arranged = rows.arrange_by_key();
                arranged.stream.probe_with(&probe);
                (input, arranged.trace)
            };
            (0..tables).map(arrange).unzip::<_, _, Vec<_>, Vec<_>>()
        });
        let idle = worker.installed_dataflows().len();
        Course { index, peers, tables, traces, imports: Vec::new(), probe, time: 0, idle }
    }

    /// Puts rows into the tables of these numbers.
    pub fn load(&mut self, worker: &mut Worker, tables: &[(usize, &[Pair])]) -> Duration {
        let began = Instant::now();
        for (number, rows) in tables {
            for (i, row) in rows.iter().skip(self.index).step_by(self.peers).enumerate() {
                self.tables[*number].insert(*row);
                // Lets the arrangements sort what has come while it is in the cache.
                if i % (1 << 16) == 0 {
                    worker.step();
                }
            }
        }
        self.complete(worker);
        began.elapsed()
    }

    /// Puts a program in the place of the one that there is.
    pub fn start<R: Row + Data>(
        &mut self,
        worker: &mut Worker,
        program: Program<R>,
        outputs: &Outputs<R>,
    ) -> Duration {
        self.stop(worker);
        let began = Instant::now();
        worker.dataflow(|scope| {
            let (traces, imports) = (&mut self.traces[..], &mut self.imports);
            let collection = program(Tables { scope, traces, imports });
            outputs.capture(collection).probe_with(&self.probe);
        });
        worker.step_while(|| self.probe.less_than(&self.time));
        began.elapsed()
    }

    fn stop(&mut self, worker: &mut Worker) {
        for mut import in self.imports.drain(..) {
            import.press();
        }
        while worker.installed_dataflows().len() > self.idle {
            worker.step();
        }
    }

    /// Arranges the table with a number by its other column, as one more.
    pub fn reverse(&mut self, worker: &mut Worker, number: usize) -> Duration {
        self.stop(worker);
        let began = Instant::now();
        let reversed = worker.dataflow(|scope| {
            let rows = self.traces[number].import(scope);
            let reversed = rows.as_collection(|from, to| (*to, *from)).arrange_by_key();
            reversed.stream.probe_with(&self.probe);
            reversed.trace
        });
        self.traces.push(reversed);
        self.idle += 1;
        worker.step_while(|| self.probe.less_than(&self.time));
        began.elapsed()
    }

    /// Replaces rows of tables in the rounds of a phase, and prints its case.
    pub fn follow<R: Row + Data>(
        &mut self,
        worker: &mut Worker,
        phase: &Phase,
        tables: &[Replacing],
        outputs: &mut Outputs<R>,
    ) {
        let times: Vec<_> = (0..phase.rounds)
            .map(|round| self.step(worker, tables, round * phase.size, phase.size))
            .collect();
        outputs.absorb(0);
        outputs.report(&phase.case, &times);
    }

    fn step(
        &mut self,
        worker: &mut Worker,
        tables: &[Replacing],
        at: usize,
        count: usize,
    ) -> Duration {
        let began = Instant::now();
        for Replacing { table, removed, inserted } in tables {
            for (rows, diff) in [(removed, -1), (inserted, 1)] {
                let rows = rows.iter().skip(at).take(count).skip(self.index);
                for row in rows.step_by(self.peers) {
                    self.tables[*table].update(*row, diff);
                }
            }
        }
        self.complete(worker);
        began.elapsed()
    }

    /// Completes the present time, so that the traces can forget how they got there.
    fn complete(&mut self, worker: &mut Worker) {
        self.time += 1;
        for table in &mut self.tables {
            table.advance_to(self.time);
            table.flush();
        }
        for trace in &mut self.traces {
            trace.set_logical_compaction(AntichainRef::new(&[self.time - 1]));
            trace.set_physical_compaction(AntichainRef::new(&[self.time]));
        }
        worker.step_while(|| self.probe.less_than(&self.time));
    }
}

/// The rows of an index as they were given.
pub fn rows(index: Index<'_>) -> Pairs<'_> {
    index.as_collection(|first, second| (*first, *second))
}

/// The rows of an index with their columns exchanged.
pub fn reversed(index: Index<'_>) -> Pairs<'_> {
    index.as_collection(|first, second| (*second, *first))
}
