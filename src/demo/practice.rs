//! The practice folder: short texts from the assets, long files made from tables, the same every time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Value, json};

/// Files that are written as they are.
const TEXTS: [(&str, &str); 7] = [
    (
        "README.md",
        include_str!("../../assets/demo/practice/README.md"),
    ),
    (
        "lessons/l01_the_loop/README.md",
        include_str!("../../assets/demo/practice/lessons/l01_the_loop/README.md"),
    ),
    (
        "lessons/l02_the_tools/README.md",
        include_str!("../../assets/demo/practice/lessons/l02_the_tools/README.md"),
    ),
    (
        "lessons/l03_the_permission/README.md",
        include_str!("../../assets/demo/practice/lessons/l03_the_permission/README.md"),
    ),
    (
        "lessons/l04_the_plan/README.md",
        include_str!("../../assets/demo/practice/lessons/l04_the_plan/README.md"),
    ),
    (
        "lessons/l05_the_context/README.md",
        include_str!("../../assets/demo/practice/lessons/l05_the_context/README.md"),
    ),
    (
        "skills/harbour-log/SKILL.md",
        include_str!("../../assets/demo/practice/skills/harbour-log/SKILL.md"),
    ),
];
/// Kinds of cargo: name, title, remark, cubic metres a tonne, limit in tonnes, warmest, what must not lie beside it.
const CARGO: &str = include_str!("../../assets/demo/practice/cargo.json");
/// Parts two templates of a rule.
const BETWEEN_RULES: &str = "# %%\n";
/// How many days have a log.
pub(super) const DAYS: usize = 26;
/// How many voyages the large file holds.
const VOYAGES: usize = 345;

/// A long program that is made from the table of cargo.
struct Program {
    path: &'static str,
    head: &'static str,
    rules: &'static str,
    tail: &'static str,
    /// The table at the end: its beginning, and one row with `{name}` and `{class}`.
    table: (&'static str, &'static str),
}

const PROGRAMS: [Program; 2] = [
    Program {
        path: "src/stowage_v1.py",
        head: include_str!("../../assets/demo/practice/stowage/v1_head.py"),
        rules: include_str!("../../assets/demo/practice/stowage/v1_rules.py"),
        tail: include_str!("../../assets/demo/practice/stowage/v1_tail.py"),
        table: ("CHECKS = {\n", "    \"{name}\": check_{name},\n"),
    },
    Program {
        path: "src/stowage_v2.py",
        head: include_str!("../../assets/demo/practice/stowage/v2_head.py"),
        rules: include_str!("../../assets/demo/practice/stowage/v2_rules.py"),
        tail: include_str!("../../assets/demo/practice/stowage/v2_tail.py"),
        table: ("RULES = {\n", "    \"{name}\": {class}Rule(),\n"),
    },
];

/// Makes a fresh folder under the system's temporary one and fills it. It is kept: the user may want to look into it.
pub(super) fn make(name: &str) -> anyhow::Result<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix(&format!("plimsoll-{name}-"))
        .tempdir()
        .context("the practice folder could not be made")?
        .keep();
    for (path, text) in files()? {
        write(&folder.join(&path), &text)
            .with_context(|| format!("{} could not be written", folder.join(&path).display()))?;
    }
    Ok(folder)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

/// All files with their texts.
pub(super) fn files() -> anyhow::Result<Vec<(String, String)>> {
    let mut files: Vec<(String, String)> = TEXTS
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    for program in &PROGRAMS {
        files.push((program.path.to_owned(), program_text(program)?));
    }
    files.push(("data/voyages.json".to_owned(), voyages()?));
    files.extend((1..=DAYS).map(|day| (format!("logs/day_{day:02}.txt"), log(day))));
    Ok(files)
}

fn cargo() -> anyhow::Result<Vec<Vec<Value>>> {
    serde_json::from_str(CARGO).context("the table of cargo is broken")
}

fn program_text(program: &Program) -> anyhow::Result<String> {
    let templates: Vec<&str> = program.rules.split(BETWEEN_RULES).collect();
    let mut text = program.head.to_owned();
    let mut table = program.table.0.to_owned();
    for (row, template) in cargo()?.iter().zip(templates.iter().cycle()) {
        text.push_str("\n\n");
        text.push_str(&filled(template, row));
        table.push_str(&filled(program.table.1, row));
    }
    write!(text, "\n\n{table}}}\n\n\n{}", program.tail)?;
    Ok(text)
}

/// `template` with the columns of `row` filled in.
fn filled(template: &str, row: &[Value]) -> String {
    let columns = [
        "{name}", "{title}", "{remark}", "{factor}", "{limit}", "{warm}", "{enemy}",
    ];
    let plain = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let mut text = template.to_owned();
    for (column, value) in columns.iter().zip(row) {
        text = text.replace(column, &plain(value));
    }
    let name = row.first().map(plain).unwrap_or_default();
    let mut letters = name.chars();
    let class: String = letters
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(letters)
        .collect();
    text.replace("{class}", &class)
}

/// How many ships lay in harbour on `day`.
pub(super) fn ships(day: usize) -> usize {
    9 + (day * 11 + 5) % 29
}

/// The log of one day: one line, short enough that stage 3 leaves it alone.
fn log(day: usize) -> String {
    let weather = ["fair", "rain", "fog", "clear"][day % 4];
    let wind = ["south-west", "west", "north", "east", "south"][day % 5];
    format!(
        "2025-06-{day:02}  ships in harbour: {}, arrived: {}, weather: {weather}, wind: {wind} {}\n",
        ships(day),
        1 + day * 5 % 7,
        2 + day * 3 % 6
    )
}

/// The large file: a year of voyages, each with the same fields.
fn voyages() -> anyhow::Result<String> {
    let cargo = cargo()?;
    let mut dice = Dice(7);
    let voyages: Vec<Value> = (1..=VOYAGES)
        .map(|number| voyage(number, &cargo, &mut dice))
        .collect();
    let all = json!({
        "harbour": "Practice harbour",
        "year": 2025,
        "units": {"length": "m", "draught": "m", "cargo": "t", "distance": "nautical miles"},
        "voyages": voyages,
    });
    let mut text = serde_json::to_string_pretty(&all)?;
    text.push('\n');
    Ok(text)
}

fn voyage(number: usize, cargo: &[Vec<Value>], dice: &mut Dice) -> Value {
    const SHIPS: [(&str, &str, usize, usize); 8] = [
        ("Grey Heron", "bulk carrier", 189, 112),
        ("Annelise", "coaster", 88, 54),
        ("Morning Star", "general cargo", 134, 81),
        ("Kittiwake", "coaster", 76, 49),
        ("Hope of Lund", "reefer", 151, 90),
        ("Old Pilot", "general cargo", 120, 74),
        ("Sandpiper", "coaster", 92, 56),
        ("Fair Margaret", "bulk carrier", 201, 118),
    ];
    const PORTS: [&str; 9] = [
        "Alderney Quay",
        "Bramble Point",
        "Cold Haven",
        "Dunmouth",
        "Eastwater",
        "Farsund Bight",
        "Gull Rock",
        "Harrow Sound",
        "Inner Skerry",
    ];
    let (name, kind, length, mark) = SHIPS[dice.roll(SHIPS.len())];
    let holds = 1 + dice.roll(3);
    let loads: Vec<Value> = (0..holds)
        .map(|_| {
            let kind = cargo[dice.roll(cargo.len())].first();
            json!({"kind": kind, "tonnes": 40 + 10 * dice.roll(90)})
        })
        .collect();
    let draught = mark - 18 + dice.roll(20);
    json!({
        "id": format!("V-2025-{number:04}"),
        "ship": {"name": name, "kind": kind, "length": length, "summer_mark": tenths(mark)},
        "route": {"from": "Practice harbour", "to": PORTS[dice.roll(PORTS.len())], "distance": 60 + dice.roll(1900)},
        "departed": format!("2025-{:02}-{:02}", 1 + (number - 1) * 12 / VOYAGES, 1 + dice.roll(28)),
        "days": 1 + dice.roll(11),
        "cargo": loads,
        "draught": {"forward": tenths(draught), "aft": tenths(draught + dice.roll(5))},
        "over_mark": draught > mark,
        "remark": (dice.roll(6) == 0).then_some("waited for the tide"),
    })
}

/// A number of tenths as a decimal.
fn tenths(tenths: usize) -> f64 {
    tenths as f64 / 10.0
}

/// The same sequence of numbers for the same start, in every version of every library.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).unwrap_or_default();
        high % sides.max(1)
    }
}
