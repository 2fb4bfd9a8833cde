//! The course of every graph workload: load the edges, then rewire some in every round.
//!
//! A round puts its edges in at one or several logical times, and is over when the frontier of the
//! output has passed them. Output changes are kept as they come and digested between the rounds'
//! phases, out of the measured time.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use differential_dataflow::VecCollection;
use differential_dataflow::input::{Input, InputSession};
use timely::dataflow::operators::probe::Handle;
use timely::dataflow::Scope;
use timely::worker::Worker;
use timely::{Config, WorkerConfig, CommunicationConfig};

use crate::arguments::Arguments;
use crate::input::{Pair, read};
use crate::report::{Answer, Change};

/// Builds a workload's dataflow over the edges.
pub type Build = for<'scope> fn(
    Scope<'scope, u64>,
    VecCollection<'scope, u64, Pair>,
    bool,
) -> VecCollection<'scope, u64, Pair>;

/// One thread without any exchange, or several that share memory.
pub fn config(workers: usize) -> Config {
    let communication = match workers {
        1 => CommunicationConfig::Thread,
        n => CommunicationConfig::Process(n),
    };
    Config { communication, worker: WorkerConfig::default() }
}

/// What the workers bring together between phases.
struct Shared {
    barrier: Barrier,
    changes: Mutex<Vec<Change<Pair>>>,
}

/// Runs the workload that `build` makes and prints its cases.
pub fn run(arguments: &Arguments, build: Build) {
    let sections = read(&arguments.file);
    let workers = arguments.workers;
    let shared = Arc::new(Shared { barrier: Barrier::new(workers), changes: Mutex::default() });
    let phases = arguments.phases.clone();
    timely::execute(config(workers), move |worker| {
        let mut course = Course::install(worker, build, Arc::clone(&shared));
        let [initial, removed, inserted] = &sections[..] else { panic!("three sections expected") };
        let took = course.load(worker, initial);
        course.report("load", &[took]);
        let mut at = 0;
        for phase in &phases {
            let mut times = Vec::with_capacity(phase.rounds);
            for _ in 0..phase.rounds {
                let end = at + phase.times * phase.size;
                times.push(course.round(worker, &removed[at..end], &inserted[at..end], phase.size));
                at = end;
            }
            course.report(&phase.case, &times);
        }
    })
    .unwrap();
}

struct Course {
    index: usize,
    peers: usize,
    edges: InputSession<u64, Pair, isize>,
    probe: Handle<u64>,
    changes: Rc<RefCell<Vec<Change<Pair>>>>,
    answer: Answer,
    shared: Arc<Shared>,
}

impl Course {
    fn install(worker: &mut Worker, build: Build, shared: Arc<Shared>) -> Self {
        let changes = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&changes);
        let probe = Handle::new();
        let first = worker.index() == 0;
        let edges = worker.dataflow(|scope| {
            let (input, edges) = scope.new_collection();
            build(scope, edges, first)
                .inspect_container(move |event| {
                    if let Ok((_, changes)) = event {
                        sink.borrow_mut().extend_from_slice(changes);
                    }
                })
                .probe_with(&probe);
            input
        });
        let (index, peers) = (worker.index(), worker.peers());
        Course { index, peers, edges, probe, changes, answer: Answer::default(), shared }
    }

    fn load(&mut self, worker: &mut Worker, initial: &[Pair]) -> Duration {
        self.shared.barrier.wait();
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
    fn round(&mut self, worker: &mut Worker, removed: &[Pair], inserted: &[Pair], size: usize) -> Duration {
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

    /// Brings the workers' changes together; the first worker prints.
    fn report(&mut self, case: &str, times: &[Duration]) {
        let mut mine = mem::take(&mut *self.changes.borrow_mut());
        self.shared.changes.lock().unwrap().append(&mut mine);
        self.shared.barrier.wait();
        if self.index == 0 {
            let mut all = mem::take(&mut *self.shared.changes.lock().unwrap());
            let differences = self.answer.absorb(&mut all);
            self.answer.print(case, times, differences);
        }
        self.shared.barrier.wait();
    }
}
