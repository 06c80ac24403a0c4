//! The arguments of a `#[tool]`: what schema the model sees, and what it is told when they do not fit.

use expect_test::{Expect, expect};
use hermes_actors::tool;
use hermes_actors::tool::{Tool, ToolContext, shown};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

async fn shown_of(tool: impl Tool, arguments: Value) -> String {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    shown(&tool.call(arguments, ToolContext::new("t1.0")).await)
}

fn check_parameters(tool: impl Tool, expected: Expect) {
    let declaration = tool.declaration();
    assert_eq!(declaration.check(), Ok(()));
    expected.assert_eq(&format!("{:#}", declaration.parameters));
}

/// How to travel.
#[derive(Clone, Copy, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Vehicle {
    Train,
    /// with a bicycle, if it must be
    OnFoot,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Stop {
    /// The city's name.
    city: String,
    nights: Option<u32>,
}

#[derive(Serialize)]
struct Trip {
    cities: Vec<String>,
    nights: u32,
}

/// Plans a trip.
///
/// # Arguments
/// - `stops`: where to stop, in order
/// - `vehicle` - how to travel between them
#[tool(undocumented)]
async fn plan_trip(
    stops: Vec<Stop>,
    vehicle: Option<Vehicle>,
    notes: BTreeMap<String, bool>,
    detour: Option<Stop>,
) -> Trip {
    let slow = matches!(vehicle, Some(Vehicle::OnFoot)) || notes.contains_key("slow");
    let cities = stops.iter().chain(&detour).map(|stop| stop.city.clone()).collect();
    let nights = stops.iter().filter_map(|stop| stop.nights).sum();
    Trip { cities, nights: if slow { nights * 2 } else { nights } }
}

#[test]
fn every_usual_type_has_a_schema_without_references() {
    check_parameters(
        plan_trip(),
        expect![[r#"
            {
              "properties": {
                "detour": {
                  "properties": {
                    "city": {
                      "description": "The city's name.",
                      "type": "string"
                    },
                    "nights": {
                      "minimum": 0,
                      "type": "integer"
                    }
                  },
                  "required": [
                    "city"
                  ],
                  "type": "object"
                },
                "notes": {
                  "additionalProperties": {
                    "type": "boolean"
                  },
                  "type": "object"
                },
                "stops": {
                  "description": "where to stop, in order",
                  "items": {
                    "properties": {
                      "city": {
                        "description": "The city's name.",
                        "type": "string"
                      },
                      "nights": {
                        "minimum": 0,
                        "type": "integer"
                      }
                    },
                    "required": [
                      "city"
                    ],
                    "type": "object"
                  },
                  "type": "array"
                },
                "vehicle": {
                  "description": "how to travel between them\n- on_foot: with a bicycle, if it must be",
                  "enum": [
                    "train",
                    "on_foot"
                  ],
                  "type": "string"
                }
              },
              "required": [
                "stops",
                "notes"
              ],
              "type": "object"
            }"#]],
    );
}

#[tokio::test]
async fn unusable_arguments_are_an_error_that_names_the_place_and_what_was_wanted() {
    let errors = [
        json!({}),
        json!({"stops": "Rome", "notes": {}}),
        json!({"stops": [{"city": "Rome"}, {"city": 5}], "notes": {}}),
        json!({"stops": [{"nights": 1}], "notes": {}}),
        json!({"stops": [], "notes": {"slow": "yes"}}),
        json!({"stops": [], "notes": {}, "vehicle": "car"}),
        json!({"stops": [], "notes": {}, "vehicle": 5}),
        json!({"stops": [], "notes": {}, "vehikle": "train"}),
    ];
    let mut said = String::new();
    for arguments in errors {
        said += &shown_of(plan_trip(), arguments).await;
        said += "\n";
    }
    expect![[r#"
        ERROR: unusable arguments: `stops`: missing (an array); `notes`: missing (an object)
        ERROR: unusable arguments: `stops`: the string "Rome" is not an array
        ERROR: unusable arguments: `stops[1].city`: 5 is not a string
        ERROR: unusable arguments: `stops[0].city`: missing (a string)
        ERROR: unusable arguments: `notes.slow`: the string "yes" is not true or false
        ERROR: unusable arguments: `vehicle`: `car` is not one of `train`, `on_foot`
        ERROR: unusable arguments: `vehicle`: 5 is not one of `train`, `on_foot`
        ERROR: unusable arguments: `vehikle`: unknown, there are `detour`, `notes`, `stops`, `vehicle`
    "#]]
    .assert_eq(&said);
}

#[derive(Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Kelvin,
}

/// The forecast.
#[tool(read_only)]
async fn forecast(
    /// where
    #[default("北京")]
    city: String,
    /// how many days
    #[default(3)]
    days: u8,
    /// of the temperature
    #[default(Unit::Kelvin)]
    unit: Unit,
    /// with what grows
    pollen: Option<bool>,
) -> String {
    let unit = if matches!(unit, Unit::Celsius) { "°C" } else { "K" };
    format!("{city} {days} {unit} {pollen:?}")
}

#[tokio::test]
async fn a_default_may_be_left_out_and_stands_in_the_schema() {
    check_parameters(
        forecast(),
        expect![[r#"
        {
          "properties": {
            "city": {
              "default": "北京",
              "description": "where",
              "type": "string"
            },
            "days": {
              "default": 3,
              "description": "how many days",
              "maximum": 255,
              "minimum": 0,
              "type": "integer"
            },
            "pollen": {
              "description": "with what grows",
              "type": "boolean"
            },
            "unit": {
              "default": "kelvin",
              "description": "of the temperature",
              "enum": [
                "celsius",
                "kelvin"
              ],
              "type": "string"
            }
          },
          "type": "object"
        }"#]],
    );
    for (arguments, said) in [
        (json!({}), "OK: 北京 3 K None"),
        (json!({"days": null, "city": null, "pollen": null}), "OK: 北京 3 K None"),
        (json!({"days": 1, "unit": "celsius", "city": "روما", "pollen": true}), "OK: روما 1 °C Some(true)"),
        (json!({"unit": "K"}), "ERROR: unusable arguments: `unit`: `K` is not one of `celsius`, `kelvin`"),
        (
            json!({"days": 900, "unit": "fahrenheit", "pollen": "no", "city": "上海"}),
            "ERROR: unusable arguments: `days`: 900 is not a whole number from 0 to 255; \
             `pollen`: the string \"no\" is not true or false; \
             `unit`: `fahrenheit` is not one of `celsius`, `kelvin`",
        ),
    ] {
        assert_eq!(shown_of(forecast(), arguments).await, said);
    }
}

#[tokio::test]
async fn a_struct_comes_back_as_json() {
    let arguments = json!({"stops": [{"city": "罗马", "nights": 2}], "notes": {"slow": true}});
    assert_eq!(shown_of(plan_trip(), arguments).await, r#"OK: {"cities":["罗马"],"nights":4}"#);
}

/// Remembers anything.
#[tool(undocumented)]
fn remember(what: Value, tags: Vec<Option<String>>, _place: (f32, f32)) -> Vec<String> {
    let Value::Array(_) = what else { return vec![] };
    tags.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_value_of_any_kind_is_an_empty_schema() {
    check_parameters(
        remember(),
        expect![[r#"
            {
              "properties": {
                "place": {
                  "maxItems": 2,
                  "minItems": 2,
                  "prefixItems": [
                    {
                      "type": "number"
                    },
                    {
                      "type": "number"
                    }
                  ],
                  "type": "array"
                },
                "tags": {
                  "items": {
                    "type": [
                      "string",
                      "null"
                    ]
                  },
                  "type": "array"
                },
                "what": {}
              },
              "required": [
                "what",
                "tags",
                "place"
              ],
              "type": "object"
            }"#]],
    );
    assert_eq!(
        shown_of(remember(), json!({"what": 5, "tags": [], "place": [1, 2]})).await,
        "OK: [] (The tool ran and the list is empty. That is a normal result.)"
    );
}

/// Names that Rust or a reader of Rust would trip over.
///
/// # Arguments
/// - `type`: which
/// - `unit`: not used yet
/// - `value`: what
#[tool]
fn odd_names(r#type: String, _unit: String, value: Option<String>) -> String {
    format!("{type} {value:?}", r#type = r#type)
}

#[tokio::test]
async fn raw_and_unused_parameters_have_plain_names_for_the_model() {
    assert_eq!(odd_names().declaration().parameters["required"], json!(["type", "unit"]));
    assert_eq!(odd_names().declaration().parameters["properties"]["unit"]["description"], "not used yet");
    assert_eq!(shown_of(odd_names(), json!({"type": "a", "unit": "b"})).await, "OK: a None");
}

/// A folder.
#[derive(Deserialize, schemars::JsonSchema)]
struct Folder {
    name: String,
    folders: Vec<Folder>,
}

/// Draws a tree of folders.
#[tool(undocumented)]
fn draw(top: Folder) -> usize {
    fn count(folder: &Folder) -> usize {
        folder.name.len().min(1) + folder.folders.iter().map(count).sum::<usize>()
    }
    count(&top)
}

#[tokio::test]
async fn only_a_recursive_type_keeps_a_reference() {
    check_parameters(
        draw(),
        expect![[r##"
        {
          "$defs": {
            "Folder": {
              "description": "A folder.",
              "properties": {
                "folders": {
                  "items": {
                    "$ref": "#/$defs/Folder"
                  },
                  "type": "array"
                },
                "name": {
                  "type": "string"
                }
              },
              "required": [
                "name",
                "folders"
              ],
              "type": "object"
            }
          },
          "properties": {
            "top": {
              "description": "A folder.",
              "properties": {
                "folders": {
                  "items": {
                    "$ref": "#/$defs/Folder"
                  },
                  "type": "array"
                },
                "name": {
                  "type": "string"
                }
              },
              "required": [
                "name",
                "folders"
              ],
              "type": "object"
            }
          },
          "required": [
            "top"
          ],
          "type": "object"
        }"##]],
    );
    let top = json!({"name": "a", "folders": [{"name": "b", "folders": []}]});
    assert_eq!(shown_of(draw(), json!({"top": top})).await, "OK: 2");
}
