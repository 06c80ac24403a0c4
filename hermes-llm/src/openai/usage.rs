//! What a reply cost, wherever and however often the server says it.

use serde_json::Value;

use crate::Usage;

/// Takes over what `said` says; what it does not say stays. Some servers count on in each chunk.
pub(super) fn update(usage: &mut Usage, said: &Value) {
    let count = |value: Option<&Value>| value.and_then(Value::as_u64);
    let either = |one: &str, other: &str| count(said.get(one)).or_else(|| count(said.get(other)));
    let details = said.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    let cached = count(details).or_else(|| count(said.get("prompt_cache_hit_tokens")));
    usage.input_tokens = either("prompt_tokens", "input_tokens").unwrap_or(usage.input_tokens);
    usage.output_tokens = either("completion_tokens", "output_tokens").unwrap_or(usage.output_tokens);
    usage.cached_tokens = cached.unwrap_or(usage.cached_tokens);
}
