//! What a dataflow puts out: kept as it comes, and digested between rounds, out of their time.

use std::cell::RefCell;
use std::fs;
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use differential_dataflow::consolidation::consolidate_updates;
use differential_dataflow::{Data, VecCollection};
use libmimalloc_sys::mi_collect;
use timely::worker::Worker;
use timely::{CommunicationConfig, Config, WorkerConfig};

use common::report::{Answer, Row};

/// An output change: row, time, diff.
type Change<R> = (R, u64, isize);

/// One thread without any exchange, or several that share memory.
pub fn config(workers: usize) -> Config {
    let communication = match workers {
        1 => CommunicationConfig::Thread,
        n => CommunicationConfig::Process(n),
    };
    Config { communication, worker: WorkerConfig::default() }
}

/// Where the workers of a run bring their changes together.
pub struct Meeting<R> {
    barrier: Barrier,
    changes: Mutex<Vec<Change<R>>>,
}

impl<R> Meeting<R> {
    pub fn new(workers: usize) -> Arc<Self> {
        Arc::new(Meeting { barrier: Barrier::new(workers), changes: Mutex::default() })
    }
}

/// One worker's share of the output.
pub struct Outputs<R> {
    first: bool,
    changes: Rc<RefCell<Vec<Change<R>>>>,
    meeting: Arc<Meeting<R>>,
    answer: Answer,
    differences: usize,
}

impl<R: Row + Data> Outputs<R> {
    pub fn new(worker: &Worker, meeting: &Arc<Meeting<R>>) -> Self {
        Outputs {
            first: worker.index() == 0,
            changes: Rc::default(),
            meeting: Arc::clone(meeting),
            answer: Answer::default(),
            differences: 0,
        }
    }

    /// Keeps the changes of `collection`.
    pub fn capture<'scope>(
        &self,
        collection: VecCollection<'scope, u64, R>,
    ) -> VecCollection<'scope, u64, R> {
        let changes = Rc::clone(&self.changes);
        collection.inspect_core(move |event| {
            if let Ok((_, batch)) = event {
                changes.borrow_mut().extend_from_slice(batch);
            }
        })
    }

    /// Returns when every worker has come here.
    pub fn wait(&self) {
        self.meeting.barrier.wait();
    }

    /// Brings the workers' changes together, none of them before `since`; all workers take part.
    pub fn absorb(&mut self, since: u64) {
        let mut mine = mem::take(&mut *self.changes.borrow_mut());
        self.meeting.changes.lock().unwrap().append(&mut mine);
        self.wait();
        if self.first {
            let mut all = mem::take(&mut *self.meeting.changes.lock().unwrap());
            for (_, time, _) in all.iter_mut() {
                *time = since.max(*time);
            }
            consolidate_updates(&mut all);
            all.iter().for_each(|(row, _, diff)| self.answer.absorb(row, *diff as i64));
            self.differences += all.len();
        }
        self.wait();
    }

    /// Prints a case on the first worker.
    pub fn report(&mut self, case: &str, times: &[Duration]) {
        if self.first {
            self.answer.print(case, times, mem::take(&mut self.differences));
        }
    }

    /// Prints what `records` rows at rest take.
    pub fn bytes(&self, bytes: usize, records: usize) {
        if self.first {
            println!("{{\"bytes\": {bytes}, \"records\": {records}}}");
        }
    }
}

/// The memory that the process holds, freed memory not counted.
pub fn resident_bytes() -> usize {
    // SAFETY: it may be called at any time, by any thread.
    unsafe { mi_collect(true) };
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux");
    4096 * statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages")
}
