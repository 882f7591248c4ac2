//! An answer to an approval, from the moment the server accepts it until the agent reads it, with a fault at every point between.

use std::{fmt, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use wh_testkit::dice::{Dice, count};

use crate::{
    breakable_link::{Break, BreakableLink},
    harness::World,
};

/// Runs of each point with a permission and with a question; `WH_ANSWER_FAULTS` asks for more.
const RUNS: u64 = 1;

/// Sessions whose runners are frozen together; `WH_ANSWER_FROZEN` asks for more.
const FROZEN: u64 = 4;

/// Longer than the server waits for a runner's reply.
const FREEZE: Duration = Duration::from_secs(12);

/// Where the fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    NoLink,
    CutBeforeRunner,
    RunnerFrozen,
    CutBeforeConfirmation,
    Confirmed,
}

/// Every point, and whether the server is killed there.
const POINTS: [(Point, bool); 8] = [
    (Point::NoLink, false),
    (Point::NoLink, true),
    (Point::CutBeforeRunner, false),
    (Point::CutBeforeRunner, true),
    (Point::RunnerFrozen, true),
    (Point::CutBeforeConfirmation, false),
    (Point::CutBeforeConfirmation, true),
    (Point::Confirmed, true),
];

/// What the agent asks for, and how it is answered.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Permission,
    Question,
}

const ASKS: [Ask; 2] = [Ask::Permission, Ask::Question];

impl Ask {
    fn prompt(self) -> &'static str {
        match self {
            Self::Permission => "ask leave",
            Self::Question => r#"question {"message":"which colour?"}"#,
        }
    }

    async fn answer(self, world: &World, approval: &str) {
        let words = match self {
            Self::Permission => None,
            Self::Question => Some("blue"),
        };
        world.answer(approval, "allow", words).await;
    }
}

/// What came of the runs of one point.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    delivered: u64,
    lost: u64,
    doubled: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            runs,
            delivered,
            lost,
            doubled,
        } = self;
        write!(
            f,
            "{runs} runs, {delivered} delivered, {lost} lost, {doubled} doubled"
        )
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_arrives_once_whatever_breaks_on_its_way() {
    let runs = count("WH_ANSWER_FAULTS", RUNS);
    let mut dice = Dice::roll_out("answer_faults");
    let mut world = World::with_scripted();
    let mut tallies = Vec::new();
    for (point, kill) in POINTS {
        let mut tally = Tally::default();
        let mut asker = Asker::start(&mut world).await;
        for ask in (0..runs).flat_map(|_| ASKS) {
            let pause = Duration::from_millis(dice.below(20));
            let arrived = asker.answer_under(&mut world, ask, point, kill, pause);
            let arrived = arrived.await;
            tally.runs += 1;
            if arrived {
                asker.answered += 1;
                tally.delivered += 1;
            } else {
                tally.lost += 1;
                asker = Asker::start(&mut world).await;
            }
        }
        tally.doubled += asker.repeated(&world).await;
        tallies.push((format!("{point:?}, server killed: {kill}"), tally));
    }
    report(&tallies);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_arrives_at_a_runner_frozen_for_longer_than_the_server_waits() {
    let world = World::with_scripted();
    let mut tally = Tally::default();
    let mut frozen = Vec::new();
    for run in 0..count("WH_ANSWER_FROZEN", FROZEN) {
        let ask = if run % 2 == 0 {
            Ask::Permission
        } else {
            Ask::Question
        };
        let session = world.scripted().await;
        // An agent that goes on talking fills what the runner reads first once it goes on.
        let prompt = format!("chatter 100\n{}\nanswers", ask.prompt());
        let asked = world.prompt(&session, &prompt).await;
        let runner = runner_of(&world, &session);
        signal(runner, Signal::STOP);
        ask.answer(&world, &asked.approvals[0].id).await;
        frozen.push((session, runner));
    }
    // The time is the experiment, not a wait for something to happen.
    tokio::time::sleep(FREEZE).await;
    for (_, runner) in &frozen {
        signal(*runner, Signal::CONT);
    }
    for (session, _) in &frozen {
        tally.runs += 1;
        if !comes_to_rest(&world, session).await {
            tally.lost += 1;
            continue;
        }
        tally.delivered += 1;
        let said = world.said(session).await;
        let said = said.replace("hm ", "");
        tally.doubled += u64::from(!said.contains("answered 1 repeated 0."));
    }
    report(&[("RunnerFrozen, server killed: false".to_owned(), tally)]);
}

/// Prints the table and fails for what was lost or doubled.
fn report(tallies: &[(String, Tally)]) {
    for (point, tally) in tallies {
        println!("answer_faults: {point}: {tally}");
    }
    let sum = |part: fn(&Tally) -> u64| tallies.iter().map(|(_, it)| part(it)).sum::<u64>();
    assert_eq!(
        (sum(|it| it.lost), sum(|it| it.doubled)),
        (0, 0),
        "lost and doubled"
    );
    assert_eq!(sum(|it| it.delivered), sum(|it| it.runs));
}

/// A session that asks, and the link to its runner.
struct Asker {
    session: String,
    runner: u32,
    link: BreakableLink,
    /// How many of its requests were answered.
    answered: u64,
}

impl Asker {
    async fn start(world: &mut World) -> Self {
        let session = world.scripted().await;
        world.prompt(&session, "say ready").await;
        let runner = runner_of(world, &session);
        let dir = run_of(world, &session).dir.path().to_owned();
        let link = BreakableLink::take_over(&dir);
        // The server is connected to the runner itself; the next life of it connects here.
        world.crash(Duration::ZERO).await;
        link.wait_followed().await;
        Self {
            session,
            runner,
            link,
            answered: 0,
        }
    }

    /// Has it ask, answers, and lets the fault happen. Tells whether the answer arrives.
    async fn answer_under(
        &self,
        world: &mut World,
        ask: Ask,
        point: Point,
        kill: bool,
        pause: Duration,
    ) -> bool {
        let asked = world.prompt(&self.session, ask.prompt()).await;
        let approval = &asked.approvals[0].id;
        let happened = match point {
            Point::NoLink => {
                self.link.close();
                None
            }
            Point::CutBeforeRunner => Some(self.link.arm(Break::BeforeRunner)),
            Point::RunnerFrozen => {
                signal(self.runner, Signal::STOP);
                Some(self.link.arm(Break::Sent))
            }
            Point::CutBeforeConfirmation => Some(self.link.arm(Break::BeforeReply)),
            Point::Confirmed => Some(self.link.arm(Break::Confirmed)),
        };
        ask.answer(world, approval).await;
        if let Some(happened) = happened {
            happened.await;
        }
        if kill {
            tokio::time::sleep(pause).await;
            world.server.kill9();
        }
        self.link.open();
        if kill {
            world.server.restart();
            world.client = world.server.client();
        }
        if point == Point::RunnerFrozen {
            signal(self.runner, Signal::CONT);
        }
        comes_to_rest(world, &self.session).await
    }

    /// Returns how many answers the agent has read again.
    async fn repeated(&self, world: &World) -> u64 {
        world.prompt(&self.session, "answers").await;
        let said = world.said(&self.session).await;
        let (_, counts) = said.rsplit_once("answered ").unwrap();
        let (answered, repeated) = counts.split_once(" repeated ").unwrap();
        assert_eq!(answered.parse(), Ok(self.answered), "{said}");
        repeated.trim_end_matches('.').parse().unwrap()
    }
}

/// Waits until a session is idle; false when the answer it waits for does not come.
async fn comes_to_rest(world: &World, session: &str) -> bool {
    for _ in 0..400 {
        if world.get(session).await.state == "idle" {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

fn run_of(world: &World, session: &str) -> wh_runner::link::RunState {
    let runs = world.server.runs().into_iter();
    let mut runs = runs.filter(|run| run.spec.session.to_string() == session);
    runs.next().unwrap()
}

fn runner_of(world: &World, session: &str) -> u32 {
    run_of(world, session).alive.unwrap().pid
}

fn signal(process: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}
