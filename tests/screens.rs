//! Keys in, screen out: the demos on the whole screen without a terminal, every frame compared with a snapshot.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll::agent::{AgentConfig, Questions, spawn};
use plimsoll::demo::{self, Demo};
use plimsoll::model::scripted::{Pace, ScriptedModel};
use plimsoll::permission::{Mode, Policy};
use plimsoll::session::{Header, Session};
use plimsoll::store::{FsStore, MemStore};
use plimsoll::tools::{ToolSettings, Tools, Workspace};
use plimsoll::tui::{Learn, Look, Script, Setup, print};

/// A practice folder that goes with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn agent(demo: &Demo, mode: Mode) -> AgentConfig {
    let header = Header::new(
        demo.folder.display().to_string(),
        "scripted model".to_owned(),
        demo.profile,
        demo.limits.clone(),
    );
    let workspace = Workspace::open(&demo.folder).unwrap();
    AgentConfig {
        model: Arc::new(ScriptedModel::new(demo.script.clone(), Pace::Instant)),
        tools: Arc::new(Tools::new(workspace, ToolSettings::default())),
        policy: Policy::new(mode, Vec::new()),
        questions: Questions::Ask(Arc::new(|_| Ok(()))),
        store: Arc::new(FsStore::in_workspace(&demo.folder)),
        session: Session::create(Arc::new(MemStore::new()), header).unwrap(),
        profile: demo.profile,
        limits: demo.limits.clone(),
    }
}

/// Types `keys` at the demo called `name` and prints the last frame, text and styles; names that are new each time are
/// written over.
async fn screen(name: &str, (keys, size): (&str, &str), mode: Mode) -> String {
    let demo = demo::prepare(name).unwrap();
    let folder = Folder(demo.folder.clone());
    let config = agent(&demo, mode);
    let setup = Setup {
        look: Look::default(),
        learn: Some(Learn::On),
        first: vec!["This is the scripted model: no key, no network.".to_owned()],
        gates: demo.gates,
        demos: vec!["tour".to_owned()],
        ..Setup::default()
    };
    let script = Script::parse(keys, Some(size)).unwrap();
    let frame = print(async { Ok(spawn(config)) }, setup, script)
        .await
        .unwrap();
    let text = without_names(&frame.text, &folder);
    format!("{text}\n\n{}", frame.styles)
}

/// The folder's random name and the session's id give way to fixed ones of the same length.
fn without_names(text: &str, folder: &Folder) -> String {
    let path = folder.0.display().to_string();
    let name = path.rsplit('/').next().unwrap();
    let fixed = format!("{}xxxxxx", &name[..name.len() - 6]);
    let text = text
        .replace(&path, &format!("/tmp/{fixed}"))
        .replace(name, &fixed);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(".transcripts/") {
        let id: String = behind.chars().take(20).collect();
        out += before;
        out += ".transcripts/";
        out += &id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { '0' } else { c })
            .collect::<String>();
        rest = &behind[id.len()..];
    }
    out + rest
}

/// Goes through all gates of a demo.
const THROUGH: &str = "<enter><enter><enter><enter><enter><enter>";

macro_rules! screens {
    ($($test:ident: $demo:literal $keys:expr, $mode:expr;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                for size in ["80x24", "120x40"] {
                    let frame = screen($demo, ($keys, size), $mode).await;
                    insta::assert_snapshot!(format!("{}_{size}", stringify!($test)), frame);
                }
            }
        )*
    };
}

screens! {
    first_screen: "tour" "", Mode::All;
    help: "micro" "<f1>", Mode::All;
    micro: "micro" THROUGH, Mode::All;
    snip: "snip" THROUGH, Mode::All;
    budget: "budget" THROUGH, Mode::All;
    history: "history" THROUGH, Mode::All;
    reactive: "reactive" THROUGH, Mode::All;
    unread: "unread" THROUGH, Mode::All;
    permission: "micro" "run touch hit<enter>", Mode::Ask;
    refused: "micro" "run touch hit<enter>n<enter>", Mode::Ask;
    log_alone: "micro" "<enter><s-tab>m", Mode::All;
}

#[tokio::test]
async fn too_small_a_screen_says_what_it_needs() {
    let frame = screen("micro", ("", "39x9"), Mode::All).await;
    assert!(frame.starts_with("Plimsoll needs 40x10\n"), "{frame}");
}

#[tokio::test]
async fn the_smallest_screen_has_gauge_conversation_and_input() {
    let frame = screen("micro", (THROUGH, "40x10"), Mode::All).await;
    insta::assert_snapshot!("smallest_40x10", frame);
}

#[test]
fn a_script_that_cannot_be_read_says_where() {
    let reason = |keys: &str, size| Script::parse(keys, size).unwrap_err().to_string();
    assert!(reason("<entr>", None).starts_with("no key is called `<entr>`"));
    assert_eq!(
        reason("a<enter", None),
        "a `<` in the keys has no `>` behind it; `<lt>` types one"
    );
    assert_eq!(
        reason("", Some("80")),
        "`80` is no size; write columns and rows as in 120x40"
    );
    assert!(Script::parse("a<lt>b<c-c><a-enter><s-tab><f12><now>x", None).is_ok());
}
