//! The JSON Schemas of what is written by hand: ids, addresses, hashes.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::journal::BlobHash;
use crate::{Address, Id, TraceId};

macro_rules! text {
    ($type:ty, $name:literal, $pattern:literal, $description:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "description": $description })
            }
        }
    };
}

text!(Id, "Id", "^[0-9a-f]{32}$", "The id of an envelope.");
text!(TraceId, "TraceId", "^[0-9a-f]{32}$", "The id of a trace.");
text!(
    BlobHash,
    "BlobHash",
    "^[0-9a-f]{64}$",
    "The SHA-256 of a blob, by which it is kept beside the journal."
);
text!(
    Address,
    "Address",
    r"^(topic:.+|[A-Za-z0-9_.-]+(#[0-9]+)?(/[A-Za-z0-9_.-]+(#[0-9]+)?)*)$",
    "The name of an actor: segments joined by `/`, numbered where there are several."
);
