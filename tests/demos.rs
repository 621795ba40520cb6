//! Every demo, played by the whole agent without a screen: what it is named after happens, with these figures.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "support/events.rs"]
#[expect(
    unreachable_pub,
    clippy::expect_used,
    reason = "shared with other tests"
)]
mod events;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll::agent::{AgentConfig, Questions, spawn};
use plimsoll::context::Stage;
use plimsoll::demo::{self, Demo};
use plimsoll::event::{AgentEvent, Command, Envelope, Gate, Handle, StageReport, TurnEnd};
use plimsoll::model::scripted::{Pace, ScriptedModel};
use plimsoll::permission::{Mode, Policy};
use plimsoll::session::{Header, Session, fold, log_name};
use plimsoll::store::{FsStore, MemStore, Store};
use plimsoll::tools::{ToolSettings, Tools, Workspace};

/// A demo that was played to its end. Its folder goes with it.
struct Played {
    folder: PathBuf,
    events: Vec<Envelope>,
    logs: Arc<MemStore>,
}

impl Drop for Played {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn start(demo: &Demo, logs: &Arc<MemStore>) -> Handle {
    let header = Header::new(
        demo.folder.display().to_string(),
        "scripted model".to_owned(),
        demo.profile,
        demo.limits.clone(),
    );
    let workspace = Workspace::open(&demo.folder).unwrap();
    spawn(AgentConfig {
        model: Arc::new(ScriptedModel::new(demo.script.clone(), Pace::Instant)),
        tools: Arc::new(Tools::new(workspace, ToolSettings::default())),
        policy: Policy::new(Mode::All, Vec::new()),
        questions: Questions::Refuse,
        store: Arc::new(FsStore::in_workspace(&demo.folder)),
        session: Session::create(Arc::clone(logs) as Arc<dyn Store>, header).unwrap(),
        profile: demo.profile,
        limits: demo.limits.clone(),
    })
}

/// Plays the demo called `name` to its end, and checks what always holds.
async fn play(name: &str) -> Played {
    let played = play_out(demo::prepare(name).unwrap()).await;
    played.check_what_always_holds();
    played
}

/// Plays the gates of `demo` one after another, each to the end of its turn.
async fn play_out(demo: Demo) -> Played {
    let mut played = Played {
        folder: demo.folder.clone(),
        events: Vec::new(),
        logs: Arc::default(),
    };
    let mut handle = start(&demo, &played.logs);
    for gate in demo.gates {
        if let Some(limits) = gate.limits {
            let reason = "the demo's gate".to_owned();
            let set = Command::SetLimits { limits, reason };
            handle.commands.send(set).await.unwrap();
        }
        handle
            .commands
            .send(Command::Prompt(gate.prompt))
            .await
            .unwrap();
        loop {
            let event = handle.events.recv().await.unwrap();
            let ends =
                event.task.is_none() && matches!(event.event, AgentEvent::TurnFinished { .. });
            played.events.push(event);
            if ends {
                break;
            }
        }
    }
    played
}

impl Played {
    /// Every turn ends well, no tool and no stage fails, nothing is asked, and every file that a report names is there.
    fn check_what_always_holds(&self) {
        events::assert_brackets(&self.events);
        events::assert_five_stages(&self.events);
        for envelope in &self.events {
            match &envelope.event {
                AgentEvent::TurnFinished { end, error, .. } => {
                    assert_eq!((*end, error.as_deref()), (TurnEnd::Done, None));
                }
                AgentEvent::ToolFinished {
                    is_error, output, ..
                } => assert!(!is_error, "{output}"),
                AgentEvent::StageFailed { error, .. } => panic!("{error}"),
                AgentEvent::PermissionAsked { reason, .. } => panic!("{reason}"),
                AgentEvent::Notice { text } => panic!("{text}"),
                _ => {}
            }
        }
        for report in self.reports() {
            for file in report.files.iter().chain(&report.transcript) {
                assert!(self.folder.join(file).is_file(), "{file}");
            }
        }
    }

    /// The stages of the main agent that changed something.
    fn reports(&self) -> Vec<&StageReport> {
        let of_main = self
            .events
            .iter()
            .filter(|envelope| envelope.task.is_none());
        of_main
            .filter_map(|envelope| match &envelope.event {
                AgentEvent::StageFinished(report) => Some(&**report),
                _ => None,
            })
            .collect()
    }

    /// One line for each of them: call, stage, size, messages, results that changed, guards.
    fn stages(&self) -> Vec<String> {
        self.reports().into_iter().map(line).collect()
    }

    /// The lines of one stage.
    fn lines_of(&self, stage: Stage) -> Vec<String> {
        let reports = self.reports();
        let of_stage = reports.iter().filter(|report| report.stage == stage);
        of_stage.map(|report| line(report)).collect()
    }

    /// What the main agent's model said at the end of each turn.
    fn answers(&self) -> Vec<String> {
        let mut answers = Vec::new();
        let mut last = String::new();
        for envelope in self
            .events
            .iter()
            .filter(|envelope| envelope.task.is_none())
        {
            match &envelope.event {
                AgentEvent::MessageAppended { message, .. } => {
                    last = message.text().unwrap_or_default();
                }
                AgentEvent::TurnFinished { .. } => answers.push(std::mem::take(&mut last)),
                _ => {}
            }
        }
        answers
    }

    /// How often the main agent used each tool.
    fn tools(&self) -> BTreeMap<String, usize> {
        let mut tools = BTreeMap::new();
        for envelope in self
            .events
            .iter()
            .filter(|envelope| envelope.task.is_none())
        {
            if let AgentEvent::ToolStarted { tool, .. } = &envelope.event {
                *tools.entry(tool.clone()).or_default() += 1;
            }
        }
        tools
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }
}

fn line(report: &StageReport) -> String {
    let touched: Vec<String> = report
        .touched
        .iter()
        .map(|touched| {
            let unread = if touched.unread { "!" } else { "" };
            format!("{}>{}{unread}", touched.chars_before, touched.chars_after)
        })
        .collect();
    let mut line = format!(
        "{} {} {}>{} m{}>{} [{}]",
        report.call,
        report.stage.name(),
        report.size_before,
        report.size_after,
        report.messages_before,
        report.messages_after,
        touched.join(" ")
    );
    let guards = report.guards;
    for (name, count) in [
        ("unread", guards.unread),
        ("paths", guards.paths),
        ("carried", usize::from(guards.carried)),
        ("lost", report.unread_lost),
    ] {
        if count > 0 {
            let _ = write!(line, " {name} {count}");
        }
    }
    line
}

fn counts(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    let owned = pairs
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    owned.collect()
}

#[tokio::test]
async fn micro_keeps_the_newest_three_and_what_is_unread() {
    let played = play("micro").await;
    assert_eq!(
        played.stages(),
        [
            "5 micro_compact 10818>8216 m9>9 [2602>50]",
            "6 micro_compact 10900>8564 m11>11 [2341>50]",
            "8 micro_compact 21844>15279 m15>15 [2127>50 2126>50 2318>50] unread 2"
        ]
    );
    assert_eq!(played.tools(), counts(&[("read_file", 10)]));
    assert!(played.answers()[0].contains("two digits and the topic in snake_case"));
    assert!(played.answers()[1].starts_with("All five stand here whole"));
}

#[tokio::test]
async fn snip_cuts_the_middle_and_carries_the_request() {
    let played = play("snip").await;
    assert_eq!(
        played.lines_of(Stage::SnipCompact),
        [
            "26 snip_compact 9405>9213 m51>51 []",
            "27 snip_compact 9591>9586 m53>52 [] carried 1",
            "28 snip_compact 9969>9619 m54>52 [] carried 1",
            "29 snip_compact 9995>9624 m54>52 [] carried 1"
        ]
    );
    assert_eq!(played.tools(), counts(&[("glob", 1), ("read_file", 26)]));
    let reports = played.reports();
    let carrier = reports.last().unwrap().after.messages().nth(3).unwrap();
    assert_eq!(
        carrier.text().unwrap(),
        "[snipped 6 messages]\n\nAuthoritative request:\nRead the logs of all 26 days one by one and tell me on which day most \
         ships lay in harbour. Never skip a day."
    );
    assert!(
        played.answers()[1]
            .ends_with("the fullest day was June 10 with 37 ships in harbour. No day was skipped.")
    );
}

#[tokio::test]
async fn budget_puts_the_large_result_on_disk_and_goes_on_from_there() {
    let played = play("budget").await;
    assert_eq!(
        played.stages(),
        ["3 tool_result_budget 229184>2949 m5>5 [217452>2145!]"]
    );
    let file = &played.reports()[0].files[0];
    assert_eq!(file, ".task_outputs/tool-results/toolu_02.txt");
    assert_eq!(played.read(file), played.read("data/voyages.json"));
    let reads: Vec<String> = played
        .events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            AgentEvent::ToolStarted { tool, input, .. } if tool == "read_file" => {
                Some(input.to_string())
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        reads,
        [
            r#"{"path":"data/voyages.json"}"#.to_owned(),
            format!(r#"{{"path":"{file}","offset":1,"limit":60}}"#),
            r#"{"path":"data/voyages.json","offset":5000,"limit":60}"#.to_owned(),
        ]
    );
    assert!(played.answers()[0].starts_with("The file is one object with four keys"));
}

#[tokio::test]
async fn history_becomes_a_summary_and_the_work_goes_on() {
    let played = play("history").await;
    assert_eq!(
        played.stages(),
        ["3 compact_history 66051>1188 m5>1 [] lost 1"]
    );
    let reports = played.reports();
    let transcript = reports[0].transcript.as_ref().unwrap();
    assert!(transcript.starts_with(".transcripts/"), "{transcript}");
    let written: Vec<serde_json::Value> = played
        .read(transcript)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let before: Vec<serde_json::Value> = reports[0]
        .before
        .messages()
        .map(|message| serde_json::to_value(message).unwrap())
        .collect();
    assert_eq!(written, before);
    let compacted = reports[0].after.messages().next().unwrap().text().unwrap();
    assert!(compacted.starts_with(
        "[Compacted]\n\nAuthoritative request:\nCompare src/stowage_v1.py with src/stowage_v2.py: what was changed, and \
         why? Do not change any file.\n\nReference state"
    ));
    assert!(
        compacted.contains("Constraints of the user, word for word:\\n- Do not change any file.")
    );
    assert!(compacted.contains("src/stowage_v2.py: 32,673 characters"));
    assert!(played.answers()[0].contains("v1 from my notes in the summary"));
}

#[tokio::test]
async fn reactive_answers_a_refusal_with_a_summary_and_one_retry() {
    let played = play("reactive").await;
    assert_eq!(
        played.stages(),
        [
            "5 micro_compact 35872>35487 m9>9 [426>50]",
            "6 reactive_compact 35487>6412 m9>7 [30720>2144!]"
        ]
    );
    let report = *played.reports().last().unwrap();
    assert!(report.transcript.is_some());
    assert_eq!(report.files, [".task_outputs/tool-results/toolu_04.txt"]);
    assert_eq!(
        played.read(&report.files[0]),
        played.read("src/stowage_v1.py")
    );
    let answer = &played.answers()[0];
    assert!(
        answer.contains("The program's full text is in .task_outputs/tool-results/toolu_04.txt")
    );
}

#[tokio::test]
async fn compact_tool_summarises_after_the_whole_batch() {
    let played = play("compact-tool").await;
    assert_eq!(
        played.stages(),
        ["3 compact_history 9650>1620 m5>1 [] lost 3"]
    );
    assert_eq!(
        played.tools(),
        counts(&[
            ("compact", 1),
            ("glob", 1),
            ("read_file", 5),
            ("todo_write", 3)
        ])
    );
    let compacted = played.reports()[0]
        .after
        .messages()
        .next()
        .unwrap()
        .text()
        .unwrap();
    assert!(
        compacted.contains("glob skills/*/SKILL.md: "),
        "the batch goes into the summary"
    );
    assert!(played.answers()[0].contains("What all five have in common"));
}

#[tokio::test]
async fn unread_results_are_lost_without_the_guard_and_kept_with_it() {
    let played = play("unread").await;
    assert_eq!(
        played.stages(),
        [
            "2 micro_compact 12889>7951 m3>3 [2602>50! 2341>50!]",
            "3 micro_compact 13566>9318 m5>5 [2127>50 2126>50]",
            "5 micro_compact 22440>15185 m9>9 [2318>50 2602>50 2341>50] unread 2"
        ]
    );
    assert_eq!(
        played.tools(),
        counts(&[("read_file", 12)]),
        "two had to be read again"
    );
    assert!(played.answers()[1].starts_with("All five results stand here whole"));
}

#[tokio::test]
async fn a_path_is_lost_without_the_guard_and_kept_with_it() {
    let played = play("lost-path").await;
    assert_eq!(
        played.stages(),
        [
            "2 tool_result_budget 228893>2658 m3>3 [217452>2145!]",
            "3 micro_compact 5499>3300 m5>5 [2145>50]",
            "4 micro_compact 4623>3978 m7>7 [665>50]",
            "6 tool_result_budget 232925>6690 m11>11 [217452>2145!]",
            "6 micro_compact 6690>6064 m11>11 [646>50]",
            "7 micro_compact 8905>5275 m13>13 [669>50 827>50 2145>85] paths 1",
            "8 micro_compact 6590>5945 m15>15 [665>50]"
        ]
    );
    let answers = played.answers();
    assert!(answers[0].starts_with("Done, by a detour"));
    assert!(answers[1].starts_with("Done, from the saved result itself"));
}

#[tokio::test]
async fn the_tour_fires_every_stage_and_every_guard() {
    let played = play("tour").await;
    let mut fired: Vec<Stage> = played.reports().iter().map(|report| report.stage).collect();
    fired.sort();
    fired.dedup();
    assert_eq!(
        fired,
        [
            Stage::ToolResultBudget,
            Stage::SnipCompact,
            Stage::MicroCompact,
            Stage::FitResults,
            Stage::CompactHistory,
            Stage::ReactiveCompact,
        ]
    );
    let without_snip: Vec<String> = played
        .stages()
        .into_iter()
        .filter(|line| !line.contains("snip_compact"))
        .collect();
    assert_eq!(
        without_snip,
        [
            "3 micro_compact 3249>2592 m5>5 [672>50]",
            "5 micro_compact 15661>14990 m9>9 [135>50 252>50 419>50] unread 2",
            "6 micro_compact 16365>7179 m11>11 [2602>50 2341>50 2127>50 2126>50]",
            "8 tool_result_budget 236180>9945 m15>15 [217452>2145!]",
            "8 micro_compact 9945>7628 m15>15 [2318>50]",
            "9 micro_compact 10645>8006 m17>17 [135>50 426>50 2145>85] unread 1 paths 1",
            "10 micro_compact 8425>8335 m19>19 [135>50]",
            "11 micro_compact 8685>8281 m21>21 [434>50]",
            "12 micro_compact 8652>8177 m23>23 [501>50]",
            "13 micro_compact 8666>8138 m25>25 [554>50]",
            "37 compact_history 76803>3055 m52>1 [] lost 3",
            "39 fit_results 68873>6163 m5>5 [30720>1144! 32673>1144!]",
            "40 micro_compact 11040>9950 m7>7 [1144>85] paths 1",
            "42 micro_compact 28885>27778 m11>11 [1144>85] paths 1",
            "43 micro_compact 41429>40075 m13>13 [1363>50]",
            "44 micro_compact 56363>53627 m15>15 [2696>50]",
            "44 compact_history 53627>19780 m15>3 [] unread 1",
            "47 micro_compact 40259>6730 m9>9 [15485>50 17231>50]",
            "48 micro_compact 7128>6751 m11>11 [419>50]",
            "50 reactive_compact 7199>6108 m13>7 []",
            "52 compact_history 7269>4142 m11>1 [] lost 2"
        ]
    );
    assert_eq!(
        played.lines_of(Stage::SnipCompact),
        [
            "27 snip_compact 13889>13053 m53>51 []",
            "28 snip_compact 13545>13435 m53>52 []",
            "29 snip_compact 13813>12534 m54>52 []",
            "30 snip_compact 12917>11844 m54>51 []",
            "31 snip_compact 12338>12270 m53>52 []",
            "32 snip_compact 12647>12287 m54>52 []",
            "33 snip_compact 12665>10867 m54>51 []",
            "34 snip_compact 11362>11357 m53>52 [] carried 1",
            "35 snip_compact 11740>11390 m54>52 [] carried 1",
            "36 snip_compact 11694>11187 m54>52 []",
            "37 snip_compact 77292>76803 m54>52 []"
        ]
    );
    assert_eq!(
        played.tools(),
        counts(&[
            ("bash", 1),
            ("compact", 1),
            ("edit_file", 1),
            ("glob", 1),
            ("load_skill", 2),
            ("read_file", 46),
            ("task", 1),
            ("todo_write", 6),
            ("write_file", 1),
        ])
    );
    assert_eq!(
        played.read("notes/log.md"),
        "2025-06-10: 37 ships in harbour, fog. Source: logs/day_10.txt\n"
    );
    assert!(played.answers().last().unwrap().starts_with("Tidied up."));
    assert!(matches!(
        played.events.last().unwrap().event,
        AgentEvent::TurnFinished {
            end: TurnEnd::Done,
            ..
        }
    ));
}

/// What came back from the orders below: each line is drawn from a result.
const ORDERS_ANSWERED: &str = "\
read_file README.md: 426 characters, 9 lines, begins “# Practice harbour”
read_file data/voyages.json: I see a preview only; the full output is in .task_outputs/tool-results/toolu_07.txt
read_file nowhere.md: failed: nowhere.md does not exist
bash echo ahoy: ahoy
write_file notes/a.md: wrote new file notes/a.md: 1 line, 10 characters
glob *.md: README.md
6 results, 2,657 characters in sight, 1 failed.";

#[tokio::test]
async fn typed_orders_work_between_the_acts_of_a_demo() {
    let mut demo = demo::prepare("micro").unwrap();
    let orders = "read README.md, data/voyages.json and nowhere.md; run echo ahoy; write notes/a.md Fair winds; then find *.md";
    for (at, prompt) in [(1, orders), (2, "compact"), (3, "what now?")] {
        let say = String::new();
        let prompt = prompt.to_owned();
        demo.gates.insert(
            at,
            Gate {
                say,
                limits: None,
                prompt,
            },
        );
    }
    let played = play_out(demo).await;
    let answers = played.answers();
    assert_eq!(answers[1], ORDERS_ANSWERED);
    assert_eq!(
        answers[2],
        "The history was compacted. I go on from a summary of 2,192 characters; what came back before is known to me only \
         as far as it stands there."
    );
    assert!(answers[3].starts_with("I did not understand “what now?”."));
    assert!(
        answers[4].starts_with("All five stand here whole"),
        "the demo goes on where it was"
    );
}

#[tokio::test]
async fn a_demo_is_the_same_every_time() {
    let (first, second) = (play("tour").await, play("tour").await);
    assert_eq!(first.stages(), second.stages());
    assert_eq!(first.answers(), second.answers());
}

/// The log of the main agent.
fn log_of(played: &Played) -> String {
    let AgentEvent::SessionStarted(started) = &played.events[0].event else {
        panic!("no session")
    };
    played.logs.read(&log_name(&started.session)).unwrap()
}

#[tokio::test]
async fn the_log_of_a_demo_cut_behind_any_entry_is_the_session_of_that_moment() {
    for demo in demo::list().unwrap() {
        let played = play(demo.name).await;
        events::assert_log_tells(&played.events, &log_of(&played));
        for log in played.logs.files().values() {
            let folded = fold(log).unwrap();
            assert!(!folded.in_turn && !folded.torn, "subagents' logs too");
        }
    }
}
