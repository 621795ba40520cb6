//! Every known form of "the prompt is too long", what is only like it, and the other errors.

use serde_json::json;

use super::super::errors::{Said, Verdict};
use super::super::too_long::Figures;

/// Figures in the order tokens, window, output; 0 is none.
fn too_long(tokens: u64, window: u64, output: u64) -> Verdict {
    let some = |n: u64| (n > 0).then_some(n);
    Verdict::TooLong(Figures {
        tokens: some(tokens),
        window: some(window),
        output: some(output),
    })
}

fn api(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_9"})
        .to_string()
}

fn open_ai(kind: &str, code: &str, message: &str) -> String {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}}).to_string()
}

fn invalid(message: &str) -> String {
    api("invalid_request_error", message)
}

fn verdict(status: u16, body: &str) -> Verdict {
    Said::from_body(body).verdict(status)
}

#[test]
fn every_known_form_is_recognised_with_its_figures() {
    let cases: Vec<(u16, String, Verdict)> = vec![
        // the lesson
        (400, "prompt_too_long".to_owned(), too_long(0, 0, 0)),
        (500, api("api_error", "too many tokens in the prompt"), too_long(0, 0, 0)),
        (400, api("prompt_too_long", "no"), too_long(0, 0, 0)),
        // Anthropic
        (400, invalid("prompt is too long: 210000 tokens > 200000 maximum"), too_long(210_000, 200_000, 0)),
        (400, invalid("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"), too_long(190_000, 200_000, 20_000)),
        (413, api("request_too_large", "Request exceeds the maximum size"), too_long(0, 0, 0)),
        (403, api("billing_error", "Extra usage is required for long context requests."), too_long(0, 0, 0)),
        (429, api("rate_limit_error", "Extra usage is required for long context requests."), too_long(0, 0, 0)),
        // Bedrock
        (400, json!({"__type": "ValidationException", "message": "Input is too long for requested model."}).to_string(), too_long(0, 0, 0)),
        (400, json!({"message": "The model returned the following errors: prompt is too long: 210,000 tokens > 200,000 maximum"}).to_string(), too_long(210_000, 200_000, 0)),
        (400, json!({"message": "The model returned the following errors: Input is too long."}).to_string(), too_long(0, 0, 0)),
        // Vertex
        (400, json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1500000) exceeds the maximum number of tokens allowed (1048576)."}}]).to_string(), too_long(1_500_000, 1_048_576, 0)),
        (400, json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 210000 tokens"}}).to_string(), too_long(210_000, 202_752, 0)),
        // OpenRouter, Poolside
        (400, json!({"error": {"code": 400, "message": "This endpoint's maximum context length is 200000 tokens. However, you requested about 205000 tokens (197000 of text input, 8000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform"}}).to_string(), too_long(197_000, 200_000, 8_000)),
        (400, json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": invalid("prompt is too long: 210000 tokens > 200000 maximum")}}}).to_string(), too_long(210_000, 200_000, 0)),
        (422, invalid("Input length 140000 exceeds the maximum allowed input length of 131072 tokens."), too_long(140_000, 131_072, 0)),
        // OpenAI
        (400, open_ai("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."), too_long(0, 0, 0)),
        (400, open_ai("invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens."), too_long(130_001, 128_000, 0)),
        // DeepSeek
        (400, invalid("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (61808 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."), too_long(61_808, 65_536, 8_192)),
        // Kimi, MiniMax, Qwen, Mistral
        (400, invalid("Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"), too_long(140_000, 131_072, 0)),
        (400, invalid("Invalid request Error"), Verdict::Unsaid),
        (400, json!({"error": {"message": "invalid params, context window exceeds limit (2013)"}}).to_string(), too_long(0, 0, 0)),
        (400, json!({"code": "InvalidParameter", "message": "Range of input length should be [1, 129024]"}).to_string(), too_long(0, 129_024, 0)),
        (400, json!({"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}).to_string(), too_long(40_000, 32_768, 0)),
        // xAI, Groq, Together
        (400, json!({"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}).to_string(), too_long(537_812, 131_072, 0)),
        (400, open_ai("invalid_request_error", "", "Please reduce the length of the messages or completion."), too_long(0, 0, 0)),
        (422, json!({"error": {"message": "The input (40000 tokens) is longer than the model's context length (32768 tokens)."}}).to_string(), too_long(40_000, 32_768, 0)),
        // Cerebras
        (400, String::new(), Verdict::Unsaid),
        (413, String::new(), too_long(0, 0, 0)),
        (400, json!({"message": "Current length is 9000 while limit is 8192"}).to_string(), too_long(9_000, 8_192, 0)),
        // Copilot
        (400, open_ai("invalid_request_error", "model_max_prompt_tokens_exceeded", "prompt token count of 130000 exceeds the limit of 128000"), too_long(130_000, 128_000, 0)),
        // llama.cpp
        (400, json!({"error": {"code": 400, "message": "request (40031 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 40031, "n_ctx": 4096}}).to_string(), too_long(40_031, 4_096, 0)),
        (500, json!({"error": {"code": 500, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "server_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}).to_string(), too_long(5_000, 4_096, 0)),
        // LM Studio
        (400, json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}).to_string(), too_long(0, 0, 0)),
        (400, json!({"error": "Trying to keep the first 12345 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}).to_string(), too_long(12_345, 4_096, 0)),
        // Ollama
        (400, json!({"error": "prompt too long; exceeded max context length by 1234 tokens"}).to_string(), too_long(0, 0, 0)),
        (500, json!({"error": "no user query found in messages"}).to_string(), too_long(0, 0, 0)),
        // vLLM
        (400, json!({"object": "error", "type": "BadRequestError", "code": 400, "message": "This model's maximum context length is 8192 tokens. However, you requested 1024 output tokens and your prompt contains at least 7169 input tokens, for a total of at least 8193 tokens."}).to_string(), too_long(7_169, 8_192, 1_024)),
        (400, json!({"message": "The model's context length is only 8192 tokens"}).to_string(), too_long(0, 8_192, 0)),
        (400, json!({"message": "input length (9000) exceeds model's maximum context length (8192)"}).to_string(), too_long(9_000, 8_192, 0)),
        // LiteLLM: the provider's error as text
        (400, json!({"error": {"message": "litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}. Received Model Group=x", "type": null, "code": "400"}}).to_string(), too_long(210_000, 200_000, 0)),
        (400, json!({"error": {"message": "litellm.ContextWindowExceededError: no figures"}}).to_string(), too_long(0, 0, 0)),
        // mlx, TGI, gateways
        (400, json!({"error": "Prompt exceeds maximum context length"}).to_string(), too_long(0, 0, 0)),
        (422, json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`", "error_type": "validation"}).to_string(), too_long(4_000, 4_096, 200)),
        (413, "<html><head><title>413 Request Entity Too Large</title></head></html>".to_owned(), too_long(0, 0, 0)),
        (400, "payload too large".to_owned(), too_long(0, 0, 0)),
        // an event stream under an error status
        (400, "event: error\ndata: {\"error\":{\"message\":\"prompt is too long: 5 tokens > 4 maximum\"}}\n\n".to_owned(), too_long(5, 4, 0)),
    ];
    for (status, body, expected) in cases {
        assert_eq!(verdict(status, &body), expected, "{status} {body}");
    }
}

#[test]
fn room_is_what_the_prompt_leaves_of_the_window() {
    let room = |tokens, window, output| match too_long(tokens, window, output) {
        Verdict::TooLong(figures) => figures.room(),
        other => panic!("{other:?}"),
    };
    assert_eq!(room(190_000, 200_000, 20_000), Some(10_000));
    assert_eq!(room(190_000, 200_000, 0), None);
    assert_eq!(room(200_000, 200_000, 1), None);
    assert_eq!(room(200_001, 200_000, 1), None);
    assert_eq!(room(0, 200_000, 1), None);
}

#[test]
fn throttling_comes_before_too_long_and_an_echo_is_no_error() {
    let echo = format!(
        "messages.3: tool_use.id must match. You sent: {}prompt is too long",
        "x".repeat(1_000)
    );
    let cases: Vec<(u16, String, Verdict)> = vec![
        (429, api("rate_limit_error", "This request would exceed the rate limit of 30,000 input tokens per minute: prompt is too long"), Verdict::Throttled),
        (400, json!({"__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again."}).to_string(), Verdict::Throttled),
        (503, "Too Many Requests".to_owned(), Verdict::Throttled),
        (429, api("mock_error", "on purpose"), Verdict::Throttled),
        (429, open_ai("insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."), Verdict::Spent),
        (429, api("rate_limit_error", "You have reached your spend limit: rate limit 0"), Verdict::Spent),
        (402, api("billing_error", "Pay first"), Verdict::Spent),
        (401, api("authentication_error", "Unauthorized."), Verdict::Auth),
        (403, api("permission_error", "Forbidden."), Verdict::Auth),
        (404, api("not_found_error", "model: x"), Verdict::Refused),
        (422, json!({"detail": [{"msg": "Field required", "input": "prompt is too long: 3 tokens > 2 maximum"}]}).to_string(), Verdict::Refused),
        (400, invalid("max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens for this model"), Verdict::Refused),
        (400, invalid(&echo), Verdict::Refused),
        (404, String::new(), Verdict::Refused),
        (408, String::new(), Verdict::Busy),
        (409, String::new(), Verdict::Busy),
        (500, String::new(), Verdict::Busy),
        (529, api("overloaded_error", "Overloaded"), Verdict::Busy),
    ];
    for (status, body, expected) in cases {
        assert_eq!(verdict(status, &body), expected, "{status} {body}");
    }
}

#[test]
fn the_words_are_found_in_any_form_of_body() {
    let words = |body: &str| {
        let said = Said::from_body(body);
        (said.kind, said.message, said.request_id.unwrap_or_default())
    };
    let cases = [
        (api("overloaded_error", "Overloaded"), ("overloaded_error", "Overloaded", "req_9")),
        (json!({"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}).to_string(), ("authentication_error", "Invalid API Key", "")),
        (json!({"error": "a string"}).to_string(), ("", "a string", "")),
        (json!("only a string").to_string(), ("", "only a string", "")),
        (json!({"detail": "Not Found"}).to_string(), ("", "Not Found", "")),
        (json!({"detail": [{"msg": "Field required"}]}).to_string(), ("", "Field required", "")),
        (json!({"error": {"type": "a", "message": api("b", "inner")}}).to_string(), ("b", "inner", "req_9")),
        ("<html><title>\n502 Bad Gateway </title><p>x".to_owned(), ("", "502 Bad Gateway", "")),
        ("<p>x".to_owned(), ("", "an HTML page", "")),
        ("  upstream died\n".to_owned(), ("", "upstream died", "")),
        ("{broken".to_owned(), ("", "{broken", "")),
        (String::new(), ("", "", "")),
        (json!({"error": null}).to_string(), ("", "", "")),
        (json!({"error": {"message": {"message": {"message": {"message": "deep"}}}}}).to_string(), ("", "deep", "")),
    ];
    for (body, (kind, message, id)) in cases {
        let expected = (kind.to_owned(), message.to_owned(), id.to_owned());
        assert_eq!(words(&body), expected, "{body}");
    }
}
