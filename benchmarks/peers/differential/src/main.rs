//! The workloads of `benchmarks/`, written for differential-dataflow.

mod arrange;
mod batch_graph;
mod bfs;
mod bounds;
mod count;
mod datalog;
mod graph;
mod graspan;
mod install;
mod interactive;
mod mentions;
mod outputs;
mod pagerank;
mod programs;
mod reach;
mod scc;
mod tpch;
mod wcc;

use std::env;

use common::arguments::Arguments;
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() {
    if env::args().nth(1).as_deref() == Some("bounds") {
        return bounds::run();
    }
    let arguments = Arguments::parse();
    if let Some(rehearsal) = arguments.rehearsal() {
        run(&rehearsal);
        println!("{{\"rehearsed\": true}}");
    }
    run(&arguments);
}

fn run(arguments: &Arguments) {
    match arguments.workload.as_str() {
        "arrange" => arrange::run(arguments),
        "batch_graph" => batch_graph::run(arguments),
        "bfs" => graph::run(arguments, bfs::build),
        "count" => graph::run(arguments, count::build),
        "datalog" => datalog::run(arguments),
        "graspan" => graspan::run(arguments),
        "install" => install::run(arguments),
        "interactive" => interactive::run(arguments, true),
        "interactive_unshared" => interactive::run(arguments, false),
        "mentions" => mentions::run(arguments),
        "pagerank" => graph::run(arguments, pagerank::build::<1>),
        "pagerank_rounded" => graph::run(arguments, pagerank::build::<100>),
        "reach" => graph::run(arguments, reach::build),
        "scc" => graph::run(arguments, scc::build),
        "tpch" => tpch::stream::run(arguments),
        "wcc" => graph::run(arguments, wcc::build),
        other => panic!("no workload {other}"),
    }
}
