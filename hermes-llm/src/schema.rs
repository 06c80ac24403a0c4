//! The JSON Schemas of what is written by hand: messages, tool calls, reasons to stop.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{ChatMessage, Finish, Role, ToolCall};

impl JsonSchema for ChatMessage {
    fn schema_name() -> Cow<'static, str> {
        "ChatMessage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (role, call) = (generator.subschema_for::<Role>(), generator.subschema_for::<ToolCall>());
        json_schema!({
            "type": "object",
            "description": "One message of a context. What a provider adds of its own is kept beside these fields.",
            "properties": {
                "role": role,
                "content": {
                    "type": ["string", "array", "null"],
                    "description": "Text, or parts such as `{\"type\":\"text\",\"text\":…}`.",
                },
                "tool_calls": { "type": "array", "items": call },
                "tool_call_id": { "type": "string", "description": "Which call a tool message answers." },
            },
            "required": ["role"],
        })
    }
}

impl JsonSchema for ToolCall {
    fn schema_name() -> Cow<'static, str> {
        "ToolCall".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "A call that the model asks for.",
            "properties": {
                "id": { "type": "string" },
                "type": { "const": "function" },
                "function": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "arguments": { "type": "string", "description": "JSON, as the model wrote it." },
                    },
                    "required": ["name", "arguments"],
                },
            },
            "required": ["id", "type", "function"],
        })
    }
}

impl JsonSchema for Finish {
    fn schema_name() -> Cow<'static, str> {
        "Finish".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Why the model stopped: `stop`, `tool_calls`, `length`, `content_filter`, or the provider's own word.",
        })
    }
}
