//! Dataflows that come and go: each joins some keys with a large arrangement.
//!
//! A round installs the dataflow, puts its keys in, waits for the answer, and retires it; it is over
//! when the worker has forgotten the dataflow.

use std::time::{Duration, Instant};

use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::arrange::TraceAgent;
use differential_dataflow::trace::TraceReader;
use differential_dataflow::trace::implementations::ValSpine;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::probe::Handle;
use timely::progress::frontier::AntichainRef;
use timely::worker::Worker;

use crate::outputs::{Meeting, Outputs, config};
use common::arguments::Arguments;
use common::input::{Pair, read};

type Row = (u64, u64);

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let [initial, keys] = &sections[..] else { panic!("two sections expected") };
        let mut outputs = Outputs::new(worker, &meeting);
        let mut course = Course::load(worker, initial);
        let mut at = 0;
        for phase in &phases {
            let mut times = Vec::with_capacity(phase.rounds);
            for _ in 0..phase.rounds {
                outputs.wait();
                times.push(course.join(worker, &keys[at..at + phase.size], &outputs));
                at += phase.size;
                outputs.absorb(0);
            }
            outputs.report(&phase.case, &times);
        }
    })
    .unwrap();
}

struct Course {
    index: usize,
    peers: usize,
    rows: InputSession<u64, Row, isize>,
    trace: TraceAgent<ValSpine<u64, u64, u64, isize>>,
    probe: Handle<u64>,
}

impl Course {
    fn load(worker: &mut Worker, initial: &[Pair]) -> Self {
        let probe = Handle::new();
        let (index, peers) = (worker.index(), worker.peers());
        let (mut rows, trace) = worker.dataflow(|scope| {
            let (input, rows) = scope.new_collection();
            let arranged = rows.arrange_by_key();
            arranged.stream.probe_with(&probe);
            (input, arranged.trace)
        });
        for (i, row) in initial.iter().skip(index).step_by(peers).enumerate() {
            rows.insert((u64::from(row.0), u64::from(row.1)));
            if i % (1 << 16) == 0 {
                worker.step();
            }
        }
        let mut course = Course { index, peers, rows, trace, probe };
        course.advance(worker);
        course
    }

    /// Completes the rows' present time, so that the trace can forget how it got there.
    fn advance(&mut self, worker: &mut Worker) {
        let time = *self.rows.time() + 1;
        self.rows.advance_to(time);
        self.rows.flush();
        self.trace.set_logical_compaction(AntichainRef::new(&[time - 1]));
        self.trace.set_physical_compaction(AntichainRef::new(&[time]));
        worker.step_while(|| self.probe.less_than(&time));
    }

    fn join(&mut self, worker: &mut Worker, keys: &[Pair], outputs: &Outputs<Row>) -> Duration {
        let began = Instant::now();
        let time = *self.rows.time();
        let before = worker.installed_dataflows().len();
        let (mut input, probe, mut shutdown) = worker.dataflow(|scope| {
            let (rows, shutdown) = self.trace.import_core(scope, "rows");
            let (input, keys) = scope.new_collection::<u64, isize>();
            let joined = keys.arrange_by_self().join_core(rows, |key, (), val| Some((*key, *val)));
            let (probe, _) = outputs.capture(joined).probe();
            (input, probe, shutdown)
        });
        input.advance_to(time - 1);
        for (key, _) in keys.iter().skip(self.index).step_by(self.peers) {
            input.insert(u64::from(*key));
        }
        input.close();
        worker.step_while(|| probe.less_than(&time));
        shutdown.press();
        while worker.installed_dataflows().len() > before {
            worker.step();
        }
        began.elapsed()
    }
}
