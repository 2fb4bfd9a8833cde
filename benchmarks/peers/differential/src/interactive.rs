//! Interactive queries over a graph that changes: look-ups, one hop, two hops, paths of at most four.
//!
//! Questions are collections: a round puts some in, takes those of the round before out, and rewires
//! as many edges. Each join with the graph reads one of two arrangements, or makes its own.

use std::array;
use std::time::{Duration, Instant};

use differential_dataflow::VecCollection;
use differential_dataflow::input::{Input, InputSession};
use differential_dataflow::operators::ThresholdTotal;
use differential_dataflow::operators::arrange::{Arranged, TraceAgent};
use differential_dataflow::trace::implementations::ValSpine;
use timely::dataflow::operators::probe::Handle;
use timely::worker::Worker;

use common::arguments::{Arguments, Phase};
use common::input::{Pair, read};
use common::report::Row;

use crate::outputs::{Meeting, Outputs, config, resident_bytes};

const CLASSES: [&str; 4] = ["look-up", "one hop", "two hops", "paths"];

/// An answer, of the class that its place here says.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
enum Found {
    State(u32, u32),
    Hop(u32, u32),
    Hops(u32, u32),
    Path(u32, u32, u32),
}

impl Row for Found {
    fn words(&self) -> impl IntoIterator<Item = u64> {
        let (class, values) = match *self {
            Found::State(node, state) => (0, vec![node, state]),
            Found::Hop(node, next) => (1, vec![node, next]),
            Found::Hops(node, next) => (2, vec![node, next]),
            Found::Path(src, dst, steps) => (3, vec![src, dst, steps]),
        };
        [class].into_iter().chain(values).map(u64::from)
    }
}

pub fn run(arguments: &Arguments, shared: bool) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let cold = arguments.cold;
    let meeting = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        let [nodes, initial, removed, inserted, asked] = &sections[..] else {
            panic!("five sections expected")
        };
        let mut outputs = Outputs::new(worker, &meeting);
        let mut course = Course::install(worker, shared, &outputs);
        outputs.wait();
        let before = cold.then(resident_bytes);
        let took = course.load(worker, nodes, initial);
        outputs.report("load", &[took]);
        if let Some(before) = before {
            outputs.bytes(resident_bytes() - before, initial.len());
        }
        let mut at = 0;
        for phase in phases.iter().filter(|phase| !phase.case.starts_with("install ")) {
            let mut times = Vec::with_capacity(phase.rounds);
            for _ in 0..phase.rounds {
                let end = at + phase.size;
                let rewired = (&removed[at..end], &inserted[at..end]);
                times.push(course.round(worker, rewired, shares(phase, &asked[at..end])));
                at = end;
            }
            outputs.absorb(0);
            outputs.report(&phase.case, &times);
        }
    })
    .unwrap();
}

/// The questions of each class in a round of `phase`: all of one class, or as many of each.
fn shares(phase: &Phase, asked: &[Pair]) -> [Vec<Pair>; 4] {
    let name = phase.case.rsplit_once(' ').expect("a class and a size").0;
    let own = CLASSES.iter().position(|class| *class == name);
    let mut left = asked;
    array::from_fn(|class| {
        let count = match own {
            Some(own) => asked.len() * usize::from(own == class),
            None => asked.len() / 4 + usize::from(class < asked.len() % 4),
        };
        let (share, others) = left.split_at(count);
        left = others;
        share.to_vec()
    })
}

struct Course {
    index: usize,
    peers: usize,
    nodes: InputSession<u64, Pair, isize>,
    edges: InputSession<u64, Pair, isize>,
    asked: [InputSession<u64, Pair, isize>; 4],
    open: [Vec<Pair>; 4],
    probe: Handle<u64>,
}

impl Course {
    fn install(worker: &mut Worker, shared: bool, outputs: &Outputs<Found>) -> Self {
        let probe = Handle::new();
        let (index, peers) = (worker.index(), worker.peers());
        let (nodes, edges, asked) = worker.dataflow(|scope| {
            let (nodes_input, nodes) = scope.new_collection();
            let (edges_input, edges) = scope.new_collection();
            let (inputs, [look_up, hop, hops, paths]) = {
                let made: [_; 4] = array::from_fn(|_| scope.new_collection());
                let (mut inputs, mut collections) = (Vec::new(), Vec::new());
                for (input, collection) in made {
                    inputs.push(input);
                    collections.push(collection);
                }
                let Ok(inputs) = inputs.try_into() else { unreachable!() };
                let Ok(collections) = collections.try_into() else { unreachable!() };
                (inputs, collections)
            };
            let answers = answers(shared, nodes, edges, [look_up, hop, hops], paths);
            outputs.capture(answers).probe_with(&probe);
            (nodes_input, edges_input, inputs)
        });
        Course { index, peers, nodes, edges, asked, open: Default::default(), probe }
    }

    fn load(&mut self, worker: &mut Worker, nodes: &[Pair], initial: &[Pair]) -> Duration {
        let began = Instant::now();
        for node in nodes.iter().skip(self.index).step_by(self.peers) {
            self.nodes.insert(*node);
        }
        for (i, edge) in initial.iter().skip(self.index).step_by(self.peers).enumerate() {
            self.edges.insert(*edge);
            if i % (1 << 16) == 0 {
                worker.step();
            }
        }
        self.complete(worker, 1);
        began.elapsed()
    }

    fn round(
        &mut self,
        worker: &mut Worker,
        (removed, inserted): (&[Pair], &[Pair]),
        asked: [Vec<Pair>; 4],
    ) -> Duration {
        let began = Instant::now();
        for i in (self.index..removed.len()).step_by(self.peers) {
            self.edges.remove(removed[i]);
            self.edges.insert(inserted[i]);
        }
        for (class, input) in self.asked.iter_mut().enumerate() {
            for question in self.open[class].iter().skip(self.index).step_by(self.peers) {
                input.remove(*question);
            }
            for question in asked[class].iter().skip(self.index).step_by(self.peers) {
                input.insert(*question);
            }
        }
        let time = *self.edges.time() + 1;
        self.complete(worker, time);
        let took = began.elapsed();
        self.open = asked;
        took
    }

    fn complete(&mut self, worker: &mut Worker, time: u64) {
        for input in [&mut self.nodes, &mut self.edges].into_iter().chain(&mut self.asked) {
            input.advance_to(time);
            input.flush();
        }
        worker.step_while(|| self.probe.less_than(&time));
    }
}

type Pairs<'scope> = VecCollection<'scope, u64, Pair>;
type Graph<'scope> = Arranged<'scope, TraceAgent<ValSpine<u32, u32, u64, isize>>>;

/// The answers to questions about nodes, and about pairs of them.
fn answers<'scope>(
    shared: bool,
    nodes: Pairs<'scope>,
    edges: Pairs<'scope>,
    asked: [Pairs<'scope>; 3],
    pairs: Pairs<'scope>,
) -> VecCollection<'scope, u64, Found> {
    let backward = edges.clone().map(|(src, dst)| (dst, src));
    let ahead = shared.then(|| edges.clone().arrange_by_key());
    let behind = shared.then(|| backward.clone().arrange_by_key());
    // Each use asks for the graph here.
    let forward = || ahead.clone().unwrap_or_else(|| edges.clone().arrange_by_key());
    let reverse = || behind.clone().unwrap_or_else(|| backward.clone().arrange_by_key());
    let [look_up, hop, hops] = asked.map(|asked| asked.map(|(node, _)| node).arrange_by_self());
    let state = look_up
        .join_core(nodes.arrange_by_key(), |node, (), state| Some(Found::State(*node, *state)));
    let hop = hop.join_core(forward(), |node, (), next| Some(Found::Hop(*node, *next)));
    let hops = hops
        .join_core(forward(), |node, (), next| Some((*next, *node)))
        .arrange_by_key()
        .join_core(forward(), |_, node, next| Some(Found::Hops(*node, *next)));

    let pairs = pairs.distinct_total();
    let step = |from: VecCollection<'scope, u64, (u32, Pair)>, graph: Graph<'scope>| {
        from.arrange_by_key()
            .join_core(graph, |_, pair, next| Some((*next, *pair)))
            .distinct_total()
    };
    let one = step(pairs.clone().map(|pair| (pair.0, pair)), forward());
    let two = step(one.clone(), forward());
    let last = step(pairs.clone().map(|pair| (pair.1, pair)), reverse());
    let last_two = step(last.clone(), reverse());
    let (two, last) = (two.arrange_by_self(), last.arrange_by_self());
    let met = [
        pairs.filter(|(src, dst)| src == dst).map(|pair| (pair, 0)),
        one.clone().filter(|(node, (_, dst))| node == dst).map(|(_, pair)| (pair, 1)),
        one.arrange_by_self().join_core(last.clone(), |(_, pair), (), ()| Some((*pair, 2))),
        two.clone().join_core(last, |(_, pair), (), ()| Some((*pair, 3))),
        two.join_core(last_two.arrange_by_self(), |(_, pair), (), ()| Some((*pair, 4))),
    ];
    let [none, met @ ..] = met;
    let paths = none
        .concatenate(met)
        .reduce(|_, steps, least| least.push((*steps[0].0, 1isize)))
        .map(|((src, dst), steps)| Found::Path(src, dst, steps));
    state.concatenate([hop, hops, paths])
}
