//! Two models as one: summaries are asked of another model than the conversation.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::{Delta, Model, Purpose, Request};

/// A model whose summaries another one writes.
#[derive(Debug)]
pub struct WithSummaries<M> {
    /// Answers everything else, and gives its name.
    pub model: Arc<M>,
    /// Writes the summaries.
    pub summaries: Arc<M>,
}

impl<M: Model> Model for WithSummaries<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn is_scripted(&self) -> bool {
        self.model.is_scripted()
    }

    fn window(&self) -> BoxFuture<'static, Option<u64>> {
        self.model.window()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Delta> {
        match request.purpose {
            Purpose::Turn | Purpose::Task(_) => self.model.stream(request),
            Purpose::Summary => self.summaries.stream(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;
    use crate::message::{Message, StopReason, Usage};

    /// Says its name.
    struct Named(&'static str);

    impl Model for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn stream(&self, _: Request) -> BoxStream<'static, Delta> {
            let said = Delta::Text(self.0.to_owned());
            let end = Delta::Finished {
                stop_reason: StopReason::EndTurn,
                usage: Usage::default(),
            };
            futures_util::stream::iter([said, end]).boxed()
        }
    }

    #[tokio::test]
    async fn only_summaries_go_to_the_other_model() {
        let model = WithSummaries {
            model: Arc::new(Named("large")),
            summaries: Arc::new(Named("small")),
        };
        assert_eq!(model.name(), "large");
        for (purpose, expected) in [
            (Purpose::Turn, "large"),
            (Purpose::Task("t".to_owned()), "large"),
            (Purpose::Summary, "small"),
        ] {
            let request = Request {
                system: "".into(),
                tools: Arc::new([]),
                messages: vec![Arc::new(Message::user("hi"))],
                purpose,
            };
            let first = model.stream(request).next().await;
            assert!(
                matches!(&first, Some(Delta::Text(text)) if text == expected),
                "{first:?}"
            );
        }
    }
}
