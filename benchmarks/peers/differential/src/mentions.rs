//! A window of mentions that slides by a second: its components, and the top hashtag of each
//! strongly connected one, named by its smallest user.

use differential_dataflow::VecCollection;
use differential_dataflow::algorithms::graphs::scc::strongly_connected_at;
use differential_dataflow::operators::CountTotal;
use differential_dataflow::Data;
use timely::worker::Worker;

use common::arguments::{Arguments, Phase};
use common::input::{Pair, read};
use common::report::Row;

use crate::outputs::{Meeting, Outputs, config};
use crate::programs::{Course, Pairs, Program, Replacing, Tables, name, rows};
use crate::wcc;

const MENTIONS: usize = 0;
const HASHTAGS: usize = 1;

pub fn run(arguments: &Arguments) {
    let sections = read(&arguments.file);
    let phases = arguments.phases.clone();
    let users = Meeting::new(arguments.workers);
    let tags = Meeting::new(arguments.workers);
    timely::execute(config(arguments.workers), move |worker| {
        for phases in phases.chunk_by(|a, b| name(&a.case, 1) == name(&b.case, 1)) {
            match name(&phases[0].case, 1)[0] {
                "components" => {
                    let outputs = Outputs::new(worker, &users);
                    measure(worker, phases, &sections, components, outputs);
                }
                _ => {
                    let outputs = Outputs::new(worker, &tags);
                    measure(worker, phases, &sections, top_hashtags, outputs);
                }
            }
        }
    })
    .unwrap();
}

fn measure<R: Row + Data>(
    worker: &mut Worker,
    phases: &[Phase],
    sections: &[Vec<Pair>],
    program: Program<R>,
    mut outputs: Outputs<R>,
) {
    let [mentions, leaving, coming, hashtags, unused, used] = sections else {
        panic!("six sections expected")
    };
    let mut course = Course::new(worker, 2);
    course.load(worker, &[(MENTIONS, mentions), (HASHTAGS, hashtags)]);
    for phase in phases {
        outputs.wait();
        if phase.rounds > 0 {
            let mentions = Replacing { table: MENTIONS, removed: leaving, inserted: coming };
            let hashtags = Replacing { table: HASHTAGS, removed: unused, inserted: used };
            course.follow(worker, phase, &[mentions, hashtags], &mut outputs);
        } else {
            let took = course.start(worker, program, &outputs);
            outputs.absorb(0);
            outputs.report(&phase.case, &[took]);
        }
    }
}

fn components<'scope>(mut tables: Tables<'_, 'scope>) -> Pairs<'scope> {
    let mentions = rows(tables.index(MENTIONS));
    wcc::build(tables.scope, mentions, true)
}

fn top_hashtags<'scope>(
    mut tables: Tables<'_, 'scope>,
) -> VecCollection<'scope, u64, (u32, u32, u32)> {
    let mentions = rows(tables.index(MENTIONS));
    let within = strongly_connected_at(mentions, |user| u64::from(*user));
    let component = wcc::build(tables.scope.clone(), within, true);
    let hashtags = tables.index(HASHTAGS);
    component
        .arrange_by_key()
        .join_core(hashtags, |_, component, tag| Some((*component, *tag)))
        .count_total()
        .map(|((component, tag), uses)| (component, (-uses, tag)))
        .reduce(|_, from, to| to.push((*from[0].0, 1)))
        .map(|(component, (uses, tag))| (component, tag, -uses as u32))
}
