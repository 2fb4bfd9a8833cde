//! The workloads of `benchmarks/`, written for differential-dataflow.

mod arguments;
mod bfs;
mod graph;
mod input;
mod reach;
mod report;
mod scc;
mod wcc;

use arguments::Arguments;
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() {
    let arguments = Arguments::parse();
    match arguments.workload.as_str() {
        "bfs" => graph::run(&arguments, bfs::build),
        "reach" => graph::run(&arguments, reach::build),
        "scc" => graph::run(&arguments, scc::build),
        "wcc" => graph::run(&arguments, wcc::build),
        other => panic!("no workload {other}"),
    }
}
