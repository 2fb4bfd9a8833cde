//! The course of every graph workload: load the edges, then rewire some in every round.
//!
//! A round puts its edges in at one or several logical times, and is over when the frontier of the
//! output has passed them.

use std::time::{Duration, Instant};

use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::{AsCollection, VecCollection};
use timely::dataflow::Scope;
use timely::dataflow::operators::ToStream;
use timely::dataflow::operators::probe::Handle;
use timely::worker::Worker;

use common::arguments::Arguments;
use common::input::{Pair, read};

use crate::outputs::{Meeting, Outputs, config};

/// Builds a workload's dataflow over the edges; the flag is set on the first worker.
pub type Build = for<'scope> fn(
    Scope<'scope, u64>,
    VecCollection<'scope, u64, Pair>,
    bool,
) -> VecCollection<'scope, u64, Pair>;

/// A collection of `rows` that never changes.
pub fn constant<'scope>(
    scope: Scope<'scope, u64>,
    rows: impl IntoIterator<Item = Pair> + 'static,
) -> VecCollection<'scope, u64, Pair> {
    rows.into_iter().map(|row| (row, 0, 1)).to_stream(scope).as_collection()
}

/// Runs the workload that `build` makes and prints its cases.
pub fn run(arguments: &Arguments, build: Build) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let [initial, removed, inserted] = &sections[..] else { panic!("three sections expected") };
        let mut outputs = Outputs::new(worker, &meeting);
        let mut course = Course::install(worker, build, &outputs);
        outputs.wait();
        let took = course.load(worker, initial);
        outputs.absorb(0);
        outputs.report("load", &[took]);
        let mut at = 0;
        for phase in &phases {
            let mut times = Vec::with_capacity(phase.rounds);
            for _ in 0..phase.rounds {
                let end = at + phase.times * phase.size;
                times.push(course.round(worker, &removed[at..end], &inserted[at..end], phase.size));
                at = end;
            }
            outputs.absorb(0);
            outputs.report(&phase.case, &times);
        }
    })
    .unwrap();
}

struct Course {
    index: usize,
    peers: usize,
    edges: InputSession<u64, Pair, isize>,
    probe: Handle<u64>,
}

impl Course {
    fn install(worker: &mut Worker, build: Build, outputs: &Outputs<Pair>) -> Self {
        let probe = Handle::new();
        let (index, peers) = (worker.index(), worker.peers());
        let edges = worker.dataflow(|scope| {
            let (input, edges) = scope.new_collection();
            outputs.capture(build(scope, edges, index == 0)).probe_with(&probe);
            input
        });
        Course { index, peers, edges, probe }
    }

    fn load(&mut self, worker: &mut Worker, initial: &[Pair]) -> Duration {
        let began = Instant::now();
        for (i, edge) in initial.iter().skip(self.index).step_by(self.peers).enumerate() {
            self.edges.insert(*edge);
            // Lets the arrangements sort what has come while it is in the cache.
            if i % (1 << 16) == 0 {
                worker.step();
            }
        }
        self.complete(worker, 1);
        began.elapsed()
    }

    /// Replaces the edges `removed` by `inserted`, `size` of them at each time.
    fn round(
        &mut self,
        worker: &mut Worker,
        removed: &[Pair],
        inserted: &[Pair],
        size: usize,
    ) -> Duration {
        let began = Instant::now();
        let mut time = *self.edges.time();
        for (removed, inserted) in removed.chunks(size).zip(inserted.chunks(size)) {
            self.edges.advance_to(time);
            for i in (self.index..removed.len()).step_by(self.peers) {
                self.edges.remove(removed[i]);
                self.edges.insert(inserted[i]);
            }
            time += 1;
        }
        self.complete(worker, time);
        began.elapsed()
    }

    fn complete(&mut self, worker: &mut Worker, time: u64) {
        self.edges.advance_to(time);
        self.edges.flush();
        worker.step_while(|| self.probe.less_than(&time));
    }
}
