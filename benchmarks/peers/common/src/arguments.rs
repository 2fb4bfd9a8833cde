//! The command line: `WORKLOAD FILE WORKERS [PHASE... --] PHASE...`, a phase being
//! `case:rounds:times:size:rate`. What is before `--` is run first and not measured.

use std::env;

/// `rounds` rounds, each of `times` logical times with `size` changed rows; an open loop of `rate`
/// changes each second, unless that is 0.
#[derive(Clone)]
pub struct Phase {
    pub case: String,
    pub rounds: usize,
    pub times: usize,
    pub size: usize,
    pub rate: usize,
}

#[derive(Clone)]
pub struct Arguments {
    pub workload: String,
    pub file: String,
    pub workers: usize,
    pub phases: Vec<Phase>,
    rehearsed: Option<Vec<Phase>>,
    /// Whether nothing has run in this process before.
    pub cold: bool,
}

impl Arguments {
    pub fn parse() -> Self {
        let mut given = env::args().skip(1);
        let mut next = |what: &str| given.next().unwrap_or_else(|| panic!("{what} is missing"));
        let workload = next("the workload");
        let file = next("the input file");
        let workers = number(&next("the number of workers"));
        let given: Vec<_> = given.collect();
        let parse = |phases: &[String]| phases.iter().map(|text| Phase::parse(text)).collect();
        let end = given.iter().position(|text| text == "--");
        let phases = parse(&given[end.map_or(0, |end| end + 1)..]);
        let rehearsed = end.map(|end| parse(&given[..end]));
        Arguments { workload, file, workers, phases, cold: rehearsed.is_none(), rehearsed }
    }

    /// What to run first, if anything.
    pub fn rehearsal(&self) -> Option<Self> {
        let phases = self.rehearsed.clone()?;
        Some(Arguments { phases, rehearsed: None, cold: true, ..self.clone() })
    }
}

impl Phase {
    fn parse(text: &str) -> Self {
        let parts: Vec<_> = text.split(':').collect();
        let [case, rounds, times, size, rate] = parts[..] else {
            panic!("a phase is case:rounds:times:size:rate, not {text}")
        };
        let [rounds, times, size, rate] = [rounds, times, size, rate].map(number);
        Phase { case: case.into(), rounds, times, size, rate }
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}
