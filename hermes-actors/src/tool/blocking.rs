//! Blocking work: where a tool runs what would hold up the event loop.

use super::ToolError;

/// Runs `body` on a thread where blocking is allowed. A panic of the body is a panic of the caller.
///
/// What the body logs belongs to the caller's span.
///
/// # Errors
/// When the program shuts down before the body has begun.
///
/// # Cancel safety
/// A body that has begun runs on to its end when this future is dropped; what it returns is lost.
pub async fn off_the_event_loop<R: Send + 'static>(
    body: impl FnOnce() -> R + Send + 'static,
) -> Result<R, ToolError> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(body)).await {
        Ok(returned) => Ok(returned),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolError::new("the tool did not run, because the program is shutting down")),
        },
    }
}
