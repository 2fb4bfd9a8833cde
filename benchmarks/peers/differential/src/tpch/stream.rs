//! The tables of a query stream in: a row of each, then the next of each, and on without those that
//! have ended. A logical time has as many rows as the phase says; a round feeds `ROUND` rows.

use std::time::{Duration, Instant};

use differential_dataflow::Data;
use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::arrange::TraceAgent;
use differential_dataflow::trace::TraceReader;
use differential_dataflow::trace::implementations::ValSpine;
use timely::dataflow::Scope;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::probe::Handle;
use timely::progress::frontier::AntichainRef;
use timely::worker::Worker;

use common::arguments::{Arguments, Phase};
use common::report::Row;

use crate::graph::constant;
use crate::outputs::{Meeting, Outputs, config};
use crate::tpch::queries::{self, Rows, Tables};
use crate::tpch::tables::{
    Customer, LineItem, Nation, Order, Parse, Part, PartSupp, Region, Supplier, read,
};

const ROUND: usize = 100_000;

/// The rows of all tables.
struct Given {
    region: Vec<Region>,
    nation: Vec<Nation>,
    supplier: Vec<Supplier>,
    part: Vec<Part>,
    partsupp: Vec<PartSupp>,
    customer: Vec<Customer>,
    orders: Vec<Order>,
    lineitem: Vec<LineItem>,
}

/// Runs the phases, and prints their cases.
pub fn run(arguments: &Arguments) {
    let folder = &arguments.file;
    let given: &Given = Box::leak(Box::new(Given {
        region: read(folder),
        nation: read(folder),
        supplier: read(folder),
        part: read(folder),
        partsupp: read(folder),
        customer: read(folder),
        orders: read(folder),
        lineitem: read(folder),
    }));
    for phase in &arguments.phases {
        let case = Case { phase: phase.clone(), given, workers: arguments.workers };
        queries::measure(&phase.case[..3], case);
    }
}

/// One phase: a query over tables that stream in.
pub struct Case {
    phase: Phase,
    given: &'static Given,
    workers: usize,
}

impl Case {
    /// Streams the `tables` into what `build` makes of them.
    pub fn measure<R: Row + Data + Send>(
        self,
        tables: &'static [&'static str],
        build: impl for<'scope> Fn(Tables<'scope>) -> Rows<'scope, R>
        + Send
        + Sync
        + 'static,
    ) {
        let meeting = Meeting::new(self.workers);
        timely::execute(config(self.workers), move |worker| {
            let mut outputs = Outputs::new(worker, &meeting);
            let (probe, is_first) = (Handle::new(), worker.index() == 0);
            let mut feeds = worker.dataflow(|scope| {
                let (tables, feeds) = inputs(scope, self.given, &probe, is_first);
                let rows = build(tables);
                outputs.capture(rows).probe_with(&probe);
                feeds
            });
            feeds.retain(|feed| tables.contains(&feed.table()));
            let order = in_turn(&feeds);
            let mut stream = Stream { feeds, probe, size: self.phase.size, at: 0 };
            outputs.wait();
            let mut times = Vec::new();
            for rows in order.chunks(ROUND) {
                times.push(stream.round(worker, rows));
                outputs.absorb(0);
            }
            outputs.report(&self.phase.case, &times);
        })
        .unwrap();
    }
}

/// The rows in the order of the stream: the number of a feed, and of a row in it.
fn in_turn(feeds: &[Box<dyn Feed>]) -> Vec<(usize, usize)> {
    let longest = feeds.iter().map(|feed| feed.len()).max().unwrap_or(0);
    (0..longest)
        .flat_map(|row| (0..feeds.len()).map(move |feed| (feed, row)))
        .filter(|&(feed, row)| row < feeds[feed].len())
        .collect()
}

struct Stream {
    feeds: Vec<Box<dyn Feed>>,
    probe: Handle<u64>,
    size: usize,
    at: usize,
}

impl Stream {
    /// Feeds `rows` and returns how long it took until the output was complete.
    fn round(&mut self, worker: &mut Worker, rows: &[(usize, usize)]) -> Duration {
        let (index, peers) = (worker.index(), worker.peers());
        let began = Instant::now();
        for &(feed, row) in rows {
            if row % peers == index {
                self.feeds[feed].insert(row, (self.at / self.size) as u64);
            }
            self.at += 1;
        }
        let end = ((self.at - 1) / self.size + 1) as u64;
        self.feeds.iter_mut().for_each(|feed| feed.complete(end));
        worker.step_while(|| self.probe.less_than(&end));
        began.elapsed()
    }
}

/// A table's rows and the input that takes them.
trait Feed {
    fn table(&self) -> &'static str;
    fn len(&self) -> usize;
    fn insert(&mut self, row: usize, time: u64);
    fn complete(&mut self, time: u64);
}

struct Source<R: Parse> {
    rows: &'static [R],
    session: InputSession<u64, R, isize>,
    by_key: TraceAgent<ValSpine<R::Key, R, u64, isize>>,
}

impl<R: Parse> Feed for Source<R> {
    fn table(&self) -> &'static str {
        R::TABLE
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn insert(&mut self, row: usize, time: u64) {
        self.session.advance_to(time);
        self.session.insert(self.rows[row].clone());
    }

    fn complete(&mut self, time: u64) {
        self.session.advance_to(time);
        self.session.flush();
        self.by_key.set_logical_compaction(AntichainRef::new(&[time]));
        self.by_key.set_physical_compaction(AntichainRef::new(&[time]));
    }
}

/// The inputs of all tables, in the order in which they take turns.
fn inputs<'scope>(
    scope: Scope<'scope, u64>,
    given: &'static Given,
    probe: &Handle<u64>,
    is_first: bool,
) -> (Tables<'scope>, Vec<Box<dyn Feed>>) {
    let mut feeds: Vec<Box<dyn Feed>> = Vec::new();
    let tables = Tables {
        one: constant(scope, is_first.then_some((0, 0))).map(|_| ()),
        region: input(scope, &given.region, &mut feeds, probe),
        nation: input(scope, &given.nation, &mut feeds, probe),
        supplier: input(scope, &given.supplier, &mut feeds, probe),
        part: input(scope, &given.part, &mut feeds, probe),
        partsupp: input(scope, &given.partsupp, &mut feeds, probe),
        customer: input(scope, &given.customer, &mut feeds, probe),
        orders: input(scope, &given.orders, &mut feeds, probe),
        lineitem: input(scope, &given.lineitem, &mut feeds, probe),
    };
    (tables, feeds)
}

/// An input whose rows are kept arranged by their primary key, as a pool keeps them.
fn input<'scope, R: Parse>(
    scope: Scope<'scope, u64>,
    rows: &'static [R],
    feeds: &mut Vec<Box<dyn Feed>>,
    probe: &Handle<u64>,
) -> Rows<'scope, R> {
    let (session, collection): (_, Rows<'scope, R>) = scope.new_collection();
    let arranged = collection.clone().map(|row| (row.primary_key(), row)).arrange_by_key();
    arranged.stream.probe_with(probe);
    feeds.push(Box::new(Source { rows, session, by_key: arranged.trace }));
    collection
}
