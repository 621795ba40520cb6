//! What is typed behind a slash: one table of commands, and reading them.

/// A command that was typed whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Help,
    Compact,
    Quit,
    /// A demo; the tour where none is named.
    Demo(String),
    /// The load line.
    Limit(usize),
    /// Newest results that stage 3 keeps.
    Keep(usize),
    Learn(Option<Switch>),
    /// Show the text of what the model thought, or hide it.
    Thinking,
    Agree(Offer),
}

/// What the user can agree to on this start, each by a command of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// That the workspace's settings files count.
    Trust,
    /// That key and text go to another machine over plain http.
    AllowHttp,
}

impl Offer {
    /// Name and meaning of its command, for the help.
    pub(crate) fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Trust => ("/trust", "take this folder's settings files, now and later"),
            Self::AllowHttp => (
                "/allow-http",
                "use the server over plain http, now and later",
            ),
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// Names, arguments and meanings, for the help.
pub(crate) const TABLE: [(&str, &str, &str); 8] = [
    ("/help", "", "keys and commands"),
    (
        "/demo",
        "NAME",
        "a demo in a fresh practice folder; without NAME the tour",
    ),
    (
        "/limit",
        "N",
        "the load line, in characters, from the next call on",
    ),
    (
        "/keep",
        "N",
        "how many of the newest results micro_compact keeps",
    ),
    ("/learn", "on|off", "explain more, hold lamps longer"),
    (
        "/thinking",
        "",
        "show what the model thought, or fold it again",
    ),
    (
        "/compact",
        "",
        "put a summary in the place of the history now (asks)",
    ),
    ("/quit", "", "leave; the session is kept"),
];

/// Whether `draft` is a command rather than a message: a slash and a word, not a path.
pub(crate) fn is_command(draft: &str) -> bool {
    let first = draft.split_whitespace().next().unwrap_or_default();
    draft.starts_with('/') && !first[1..].contains('/')
}

/// Reads a command; the error says what would be right. Only whole names are taken, so that a slip never does harm.
pub(crate) fn parse(draft: &str, demos: &[String], offers: &[Offer]) -> Result<Typed, String> {
    let mut words = draft.split_whitespace();
    let name = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    if let Some(offer) = offers.iter().find(|offer| offer.row().0 == name) {
        return if rest.is_empty() {
            Ok(Typed::Agree(*offer))
        } else {
            Err(format!("{name} takes nothing behind it."))
        };
    }
    match (name, rest.as_slice()) {
        ("/help", []) => Ok(Typed::Help),
        ("/compact", []) => Ok(Typed::Compact),
        ("/quit", []) => Ok(Typed::Quit),
        ("/demo", []) => Ok(Typed::Demo("tour".to_owned())),
        ("/demo", [demo]) if demos.iter().any(|known| known == demo) => {
            Ok(Typed::Demo((*demo).to_owned()))
        }
        ("/demo", [_]) => Err(format!(
            "There is no such demo. Demos: {}.",
            demos.join(" ")
        )),
        ("/limit", [n]) => number(n, "/limit 30000").map(Typed::Limit),
        ("/keep", [n]) => number(n, "/keep 3").map(Typed::Keep),
        ("/thinking", []) => Ok(Typed::Thinking),
        ("/learn", []) => Ok(Typed::Learn(None)),
        ("/trust", []) => Err("No settings files of this folder wait for it.".to_owned()),
        ("/allow-http", []) => Err("No address waits for it.".to_owned()),
        ("/learn", ["on"]) => Ok(Typed::Learn(Some(Switch::On))),
        ("/learn", ["off"]) => Ok(Typed::Learn(Some(Switch::Off))),
        (name, _) => Err(match TABLE.iter().find(|(known, ..)| *known == name) {
            Some((name, "", _)) => format!("{name} takes nothing behind it."),
            Some((name, argument, _)) => format!("Type {name} {argument}."),
            None => unknown(name),
        }),
    }
}

/// Names that start with what is written, or all where nothing but the slash is.
pub(crate) fn completions(draft: &str, offers: &[Offer]) -> impl Iterator<Item = &'static str> {
    let offered: Vec<&str> = offers.iter().map(|offer| offer.row().0).collect();
    TABLE
        .iter()
        .map(|(name, ..)| *name)
        .chain(offered)
        .filter(move |name| name.starts_with(draft))
}

fn number(text: &str, example: &str) -> Result<usize, String> {
    text.replace([',', '_'], "")
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| format!("A whole number of at least 1 is needed, as in {example}."))
}

fn unknown(name: &str) -> String {
    let mut near: Vec<(usize, &str)> = TABLE
        .iter()
        .map(|(known, ..)| {
            let distance = if known.starts_with(name) {
                0
            } else {
                strsim::damerau_levenshtein(name, known)
            };
            (distance, *known)
        })
        .filter(|(distance, _)| *distance <= 2)
        .collect();
    near.sort_unstable();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).collect();
    if near.is_empty() {
        format!("There is no {name}. /help lists the commands.")
    } else {
        format!("There is no {name}. Near it: {}.", near.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_do_anything() {
        let demos = ["tour".to_owned(), "micro".to_owned()];
        let cases = [
            ("/compact", Ok(Typed::Compact)),
            ("/c", Err("There is no /c. Near it: /compact.")),
            ("/compcat", Err("There is no /compcat. Near it: /compact.")),
            ("/compact now", Err("/compact takes nothing behind it.")),
            (
                "/xyzzy",
                Err("There is no /xyzzy. /help lists the commands."),
            ),
            ("/demo", Ok(Typed::Demo("tour".to_owned()))),
            ("/demo micro", Ok(Typed::Demo("micro".to_owned()))),
            (
                "/demo nine",
                Err("There is no such demo. Demos: tour micro."),
            ),
            ("/limit 30,000", Ok(Typed::Limit(30_000))),
            ("/limit", Err("Type /limit N.")),
            (
                "/limit 0",
                Err("A whole number of at least 1 is needed, as in /limit 30000."),
            ),
            ("/thinking", Ok(Typed::Thinking)),
            ("/learn off", Ok(Typed::Learn(Some(Switch::Off)))),
        ];
        for (draft, expected) in cases {
            assert_eq!(
                parse(draft, &demos, &[]),
                expected.map_err(str::to_owned),
                "{draft}"
            );
        }
    }

    #[test]
    fn what_is_offered_can_be_agreed_to() {
        let offers = [Offer::Trust];
        let read = |draft: &str| parse(draft, &[], &offers);
        assert_eq!(read("/trust"), Ok(Typed::Agree(Offer::Trust)));
        assert_eq!(
            read("/trust all"),
            Err("/trust takes nothing behind it.".to_owned())
        );
        assert_eq!(
            read("/allow-http"),
            Err("No address waits for it.".to_owned())
        );
        let names = |draft| completions(draft, &offers).collect::<Vec<_>>();
        assert_eq!((names("/tr"), names("/a")), (vec!["/trust"], vec![]));
    }

    #[test]
    fn a_path_is_a_message() {
        assert!(is_command("/compact"));
        assert!(!is_command("/etc/hosts: what is it for?"));
        assert!(!is_command("read /etc/hosts"));
    }
}
