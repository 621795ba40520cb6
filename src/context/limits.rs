//! The pipeline's numbers and the three sets of defaults for them.

use serde::{Deserialize, Serialize};

/// A set of defaults for all [`Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The course's lesson to the letter, without guards.
    Plain,
    /// The lesson's stages and numbers, with guards.
    #[default]
    Lesson,
    /// For real work: shrinks only when it must, and everything can be read again.
    Session,
}

/// Which unread results stage 4 and the fit guard keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepUnread {
    /// None.
    Off,
    /// None until a compaction took unread results away, all from then on.
    AfterLoss,
    /// All.
    Always,
}

/// When stage 3 acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MicroWhen {
    /// Before every call.
    Always,
    /// Only where the history is over the limit.
    OverLimit,
}

/// Every number of the pipeline, in characters or messages, under the names of the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Whether the guards act.
    pub guards: bool,
    /// Which unread results are kept.
    pub keep_unread: KeepUnread,
    /// `estimate_size` above which stage 4 fires: the gauge's line.
    pub context_limit: usize,
    /// What the results of the last message may hold together.
    pub budget_max: usize,
    /// Only a longer result is persisted.
    pub persist_threshold: usize,
    /// What stays of a persisted result in the context.
    pub preview_chars: usize,
    /// Share of the limit that unread results may hold.
    pub fit_share: f64,
    /// What stays of a result that was persisted to make the unread ones fit.
    pub fit_preview_chars: usize,
    /// Stage 2 fires above it; 0 switches it off.
    pub max_messages: usize,
    /// First messages that stage 2 keeps.
    pub keep_head: usize,
    /// Last messages that stage 2 keeps.
    pub keep_tail: usize,
    /// When stage 3 acts.
    pub micro_when: MicroWhen,
    /// Share of the limit that stage 3 must reach when it acts over the limit.
    pub micro_target: f64,
    /// Newest results that stage 3 keeps whole.
    pub keep_recent: usize,
    /// Only a longer result is replaced by a placeholder.
    pub placeholder_min: usize,
    /// Whether stage 3 saves what it replaces.
    pub recoverable: bool,
    /// Newest messages that the recovery keeps.
    pub reactive_keep: usize,
    /// Retries of one model call after a recovery.
    pub max_reactive_retries: usize,
    /// Stage 4 pauses after so many failures in a row.
    pub max_summary_failures: usize,
    /// Characters of the history that the summariser is shown.
    pub summary_input_max: usize,
}

/// A setting that could not be taken; says which, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSetting {
    /// No setting of that name.
    #[error("no pipeline setting is called `{0}`")]
    Name(String),
    /// The value does not fit the setting; the text says what would.
    #[error("{name}: {reason}")]
    Value {
        /// The setting.
        name: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
}

impl Limits {
    /// The defaults of `profile`.
    #[must_use]
    pub fn of(profile: Profile) -> Self {
        let lesson = Self {
            guards: true,
            keep_unread: KeepUnread::AfterLoss,
            context_limit: 50_000,
            budget_max: 200_000,
            persist_threshold: 30_000,
            preview_chars: 2_000,
            fit_share: 0.5,
            fit_preview_chars: 1_000,
            max_messages: 50,
            keep_head: 3,
            keep_tail: 47,
            micro_when: MicroWhen::Always,
            micro_target: 0.5,
            keep_recent: 3,
            placeholder_min: 120,
            recoverable: false,
            reactive_keep: 5,
            max_reactive_retries: 1,
            max_summary_failures: 3,
            summary_input_max: 80_000,
        };
        match profile {
            Profile::Lesson => lesson,
            Profile::Plain => Self {
                guards: false,
                keep_unread: KeepUnread::Off,
                ..lesson
            },
            Profile::Session => Self {
                keep_unread: KeepUnread::Always,
                context_limit: 400_000,
                budget_max: 80_000,
                max_messages: 0,
                micro_when: MicroWhen::OverLimit,
                recoverable: true,
                summary_input_max: 320_000,
                ..lesson
            },
        }
    }

    /// What unread results may hold together: the largest whole number within `fit_share` of the limit.
    #[must_use]
    pub fn unread_max(&self) -> usize {
        share(self.fit_share, self.context_limit)
    }

    /// The size that stage 3 must reach when it acts over the limit.
    #[must_use]
    pub fn micro_goal(&self) -> usize {
        share(self.micro_target, self.context_limit)
    }

    /// Sets the number called `name` from what was typed behind `--set NAME=`.
    ///
    /// # Errors
    /// If there is no such number, or `value` does not fit it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), UnknownSetting> {
        let mut all = serde_json::to_value(&*self).unwrap_or_default();
        let Some(slot) = all.get_mut(name) else {
            return Err(UnknownSetting::Name(name.to_owned()));
        };
        *slot = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        let set: Self = serde_json::from_value(all).map_err(|error| UnknownSetting::Value {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        set.check(name)?;
        *self = set;
        Ok(())
    }

    /// The names of all numbers, in the order of the specification.
    #[must_use]
    pub fn names() -> Vec<String> {
        match serde_json::to_value(Self::default()) {
            Ok(serde_json::Value::Object(map)) => map.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    fn check(&self, name: &str) -> Result<(), UnknownSetting> {
        let shares = [self.fit_share, self.micro_target];
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
            return Err(UnknownSetting::Value {
                name: name.to_owned(),
                reason: "a share must be between 0 and 1".to_owned(),
            });
        }
        if self.context_limit == 0 {
            return Err(UnknownSetting::Value {
                name: name.to_owned(),
                reason: "the limit must be at least 1 character".to_owned(),
            });
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(Profile::default())
    }
}

/// The largest whole number within `share` (0 to 1) of `limit`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a size is a size; what is cut off is the fraction"
)]
fn share(share: f64, limit: usize) -> usize {
    (share * limit as f64).floor() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_set_by_its_name() {
        let mut limits = Limits::default();
        limits.set("keep_recent", "5").unwrap();
        limits.set("micro_when", "over_limit").unwrap();
        limits.set("guards", "false").unwrap();
        assert_eq!(
            limits,
            Limits {
                keep_recent: 5,
                micro_when: MicroWhen::OverLimit,
                guards: false,
                ..Limits::default()
            }
        );
    }

    #[test]
    fn a_bad_setting_changes_nothing_and_says_why() {
        let mut limits = Limits::default();
        assert_eq!(
            limits.set("keep_recnt", "5"),
            Err(UnknownSetting::Name("keep_recnt".to_owned()))
        );
        for (name, value) in [
            ("keep_recent", "-1"),
            ("keep_recent", "1e6"),
            ("fit_share", "2"),
            ("context_limit", "0"),
            ("guards", "maybe"),
        ] {
            assert!(
                matches!(limits.set(name, value), Err(UnknownSetting::Value { .. })),
                "{name}={value}"
            );
        }
        assert_eq!(limits, Limits::default());
    }
}
