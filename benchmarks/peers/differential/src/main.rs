//! The workloads of `benchmarks/`, written for differential-dataflow.

mod arrange;
mod bfs;
mod bounds;
mod count;
mod graph;
mod install;
mod outputs;
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
        "bfs" => graph::run(arguments, bfs::build),
        "count" => graph::run(arguments, count::build),
        "install" => install::run(arguments),
        "reach" => graph::run(arguments, reach::build),
        "scc" => graph::run(arguments, scc::build),
        "tpch" => tpch::stream::run(arguments),
        "wcc" => graph::run(arguments, wcc::build),
        other => panic!("no workload {other}"),
    }
}
