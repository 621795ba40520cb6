//! The state beside the messages of a recording: what it says itself, else what its text shows.

use std::collections::BTreeMap;

use super::error::ReplayError;
use super::parse::{Recording, Said};
use crate::context::{History, Limits, Profile, Saved, parse_marker, parse_summary};
use crate::message::{Content, Message, Role};

impl Recording {
    /// The numbers to play it with: what `sets` says goes before its own `config`, that before the numbers that were
    /// logged, and before `profile` where none were.
    ///
    /// # Errors
    /// If a setting is unknown or its value does not fit.
    pub fn limits(
        &self,
        profile: Profile,
        sets: &[(String, String)],
    ) -> Result<Limits, ReplayError> {
        let logged = self.logged.clone();
        let mut limits = logged.unwrap_or_else(|| Limits::of(profile));
        for (name, value) in &self.config {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            limits.set(name, &value).map_err(ReplayError::Config)?;
        }
        for (name, value) in sets {
            limits.set(name, value).map_err(ReplayError::Set)?;
        }
        Ok(limits)
    }

    /// Its messages with the state beside them.
    #[must_use]
    pub fn history(&self) -> History {
        let mut history = History::new();
        for message in &self.messages {
            history.push(message.clone());
        }
        history.compacted = self.messages.first().is_some_and(|first| {
            user_string(first).is_some_and(|text| parse_summary(text).is_some())
        });
        history.markers = self.markers.clone().unwrap_or_else(|| self.find_markers());
        history.lost_unread = self.lost_unread;
        let carried = |at: usize| carried_request(&history, at);
        let last = (0..history.len())
            .rev()
            .find_map(|at| carried(at).map(|request| (at, request)));
        let (at, request) = match (&self.request, &self.request_at) {
            (Said::This(request), Said::This(at)) => (Some(*at), Some(request.clone())),
            (Said::This(request), Said::None) => (None, Some(request.clone())),
            (Said::This(request), Said::Nothing) => {
                // Only a message that carries this very request is its place.
                let place = last.filter(|(_, found)| found == request);
                (place.map(|(at, _)| at), Some(request.clone()))
            }
            (Said::Nothing, Said::This(at)) => (Some(*at), carried(*at)),
            (Said::Nothing, Said::None) => (None, last.map(|(_, request)| request)),
            (Said::Nothing, Said::Nothing) => last.unzip(),
            (Said::None, _) => (None, None),
        };
        history.request_at = at;
        history.request = request;
        history
    }

    /// The files that it says the program wrote.
    #[must_use]
    pub fn saved(&self) -> Saved {
        let mut saved = Saved::default();
        for (name, text) in &self.known_files {
            saved.record(name, text);
        }
        saved
    }

    fn find_markers(&self) -> BTreeMap<usize, usize> {
        self.messages
            .iter()
            .enumerate()
            .filter_map(|(at, message)| {
                let (count, _) = parse_marker(user_string(message)?)?;
                Some((at, count))
            })
            .collect()
    }
}

/// The request that the message at `at` carries, if it carries one.
fn carried_request(history: &History, at: usize) -> Option<String> {
    let message = &history.items.get(at)?.message;
    if message.role() == Role::Assistant || message.has_results() {
        return None;
    }
    let text = message.text().unwrap_or_default();
    if history.markers.contains_key(&at) {
        let (_, request) = parse_marker(&text)?;
        return request.map(str::to_owned);
    }
    let summary = user_string(message).and_then(parse_summary);
    let request = summary.map(|(request, _)| request.to_owned());
    Some(request.unwrap_or(text))
}

fn user_string(message: &Message) -> Option<&str> {
    match (message.role(), message.content()) {
        (Role::User, Content::Text(text)) => Some(text),
        (Role::User, Content::Blocks(_) | Content::Absent) | (Role::Assistant, _) => None,
    }
}
