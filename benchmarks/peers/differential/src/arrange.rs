//! Rows of two 64-bit words, arranged by the first one; then a count by key over the arrangement.
//!
//! Closed loop: rounds of changed rows at one time. Open loop: one row at each logical time, put in
//! when its moment has come; its latency is counted from that moment.

use std::time::{Duration, Instant};

use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::CountTotal;
use differential_dataflow::operators::arrange::TraceAgent;
use differential_dataflow::trace::TraceReader;
use differential_dataflow::trace::implementations::ValSpine;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::probe::Handle;
use timely::progress::frontier::AntichainRef;
use timely::worker::Worker;

use crate::outputs::{Meeting, Outputs, config, resident_bytes};
use common::arguments::{Arguments, Phase};
use common::input::{Pair, read};

type Row = (u64, u64);
type Rows = TraceAgent<ValSpine<u64, u64, u64, isize>>;

/// In an open loop the latency of every so manieth update is kept.
const SAMPLED: usize = 100;

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let cold = arguments.cold;
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let [initial, removed, inserted] = &sections[..] else { panic!("three sections expected") };
        let mut outputs = Outputs::new(worker, &meeting);
        let mut course = Course::install(worker);
        outputs.wait();
        // Measured while the allocator keeps nothing, which to give back would spoil the next load.
        let before = cold.then(resident_bytes);
        let took = course.load(worker, initial);
        outputs.report("load", &[took]);
        if let Some(before) = before {
            outputs.bytes(resident_bytes() - before, initial.len());
        }
        let mut at = 0;
        for phase in &phases {
            let end = at + phase.rounds * phase.times * phase.size;
            let changes = (&removed[at..end], &inserted[at..end]);
            let took = match phase {
                Phase { rounds: 0, .. } => course.count(worker, &outputs),
                Phase { rate: 0, .. } => course.closed_loop(worker, changes, phase.size),
                _ => course.open_loop(worker, changes, phase.rate),
            };
            // A new reader of a compacted trace cannot tell earlier times apart.
            outputs.absorb(if phase.rounds == 0 { *course.rows.time() - 1 } else { 0 });
            outputs.report(&phase.case, &took);
            at = end;
        }
    })
    .unwrap();
}

struct Course {
    index: usize,
    peers: usize,
    rows: InputSession<u64, Row, isize>,
    trace: Option<Rows>,
    probe: Handle<u64>,
}

impl Course {
    fn install(worker: &mut Worker) -> Self {
        let probe = Handle::new();
        let (index, peers) = (worker.index(), worker.peers());
        let (rows, trace) = worker.dataflow(|scope| {
            let (input, rows) = scope.new_collection();
            let arranged = rows.arrange_by_key();
            arranged.stream.probe_with(&probe);
            (input, arranged.trace)
        });
        Course { index, peers, rows, trace: Some(trace), probe }
    }

    fn load(&mut self, worker: &mut Worker, initial: &[Pair]) -> Duration {
        let began = Instant::now();
        for (i, row) in initial.iter().skip(self.index).step_by(self.peers).enumerate() {
            self.rows.insert(wide(*row));
            // Lets the arrangement sort what has come while it is in the cache.
            if i % (1 << 16) == 0 {
                worker.step();
            }
        }
        self.complete(worker, 1);
        began.elapsed()
    }

    /// Maintains a count by key from now on, over the arrangement that there is.
    fn count(&mut self, worker: &mut Worker, outputs: &Outputs<(u64, isize)>) -> Vec<Duration> {
        let began = Instant::now();
        let mut trace = self.trace.take().expect("one count");
        worker.dataflow(|scope| {
            let keys = trace.import(scope).as_collection(|key, _| *key);
            outputs.capture(keys.count_total()).probe_with(&self.probe);
        });
        drop(trace);
        let time = *self.rows.time();
        self.complete(worker, time);
        vec![began.elapsed()]
    }

    fn closed_loop(
        &mut self,
        worker: &mut Worker,
        (removed, inserted): (&[Pair], &[Pair]),
        size: usize,
    ) -> Vec<Duration> {
        let rounds = removed.chunks(size).zip(inserted.chunks(size));
        let round = |(removed, inserted): (&[Pair], &[Pair])| {
            let began = Instant::now();
            for i in (self.index..removed.len()).step_by(self.peers) {
                self.rows.remove(wide(removed[i]));
                self.rows.insert(wide(inserted[i]));
            }
            let time = *self.rows.time() + 1;
            self.complete(worker, time);
            began.elapsed()
        };
        rounds.map(round).collect()
    }

    /// Puts in `rate` updates each second, whatever the dataflow's pace.
    fn open_loop(
        &mut self,
        worker: &mut Worker,
        (removed, inserted): (&[Pair], &[Pair]),
        rate: usize,
    ) -> Vec<Duration> {
        let total = 2 * removed.len();
        let gap = Duration::from_secs(1) / rate as u32;
        let first = *self.rows.time();
        let mut latencies = Vec::with_capacity(total / SAMPLED + 1);
        let began = Instant::now();
        let mut fed = 0;
        while fed < total {
            let due = total.min((began.elapsed().as_nanos() / gap.as_nanos()) as usize);
            for i in fed..due {
                if i % self.peers == self.index {
                    self.rows.advance_to(first + i as u64);
                    match i % 2 {
                        0 => self.rows.remove(wide(removed[i / 2])),
                        _ => self.rows.insert(wide(inserted[i / 2])),
                    }
                }
            }
            self.complete(worker, first + due as u64);
            let now = began.elapsed();
            let sampled = fed.next_multiple_of(SAMPLED)..due;
            latencies.extend(sampled.step_by(SAMPLED).map(|i| now - gap * i as u32));
            fed = due;
        }
        latencies
    }

    fn complete(&mut self, worker: &mut Worker, time: u64) {
        self.rows.advance_to(time);
        self.rows.flush();
        if let Some(trace) = &mut self.trace {
            trace.set_logical_compaction(AntichainRef::new(&[time]));
            trace.set_physical_compaction(AntichainRef::new(&[time]));
        }
        worker.step_while(|| self.probe.less_than(&time));
    }
}

fn wide(row: Pair) -> Row {
    (u64::from(row.0), u64::from(row.1))
}
