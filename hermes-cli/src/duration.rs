//! Lengths of time as people write them: `500ms`, `30s`, `2m`, `1h`.

use std::time::Duration;

/// Nothing waits longer than this: ten years.
pub const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Reads a whole number with its unit.
pub fn parse(text: &str) -> Result<Duration, String> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("write a whole number and its unit, such as 500ms, 30s, 2m or 1h".to_owned()),
    };
    let number: Option<u64> = number.parse().ok();
    let time = number.and_then(|number| number.checked_mul(milliseconds)).map(Duration::from_millis);
    time.filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "give a time above zero and below ten years, such as 30s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_times() {
        for (text, milliseconds) in [("500ms", 500), ("30s", 30_000), ("2m", 120_000), ("1h", 3_600_000)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn all_else_is_refused_with_an_example() {
        for text in [
            "",
            "30",
            "s",
            "-1s",
            "1.5s",
            "30 s",
            "30S",
            "0s",
            "99999999999999999999s",
            "9999999999999h",
            "三秒",
        ] {
            assert!(parse(text).is_err_and(|why| why.contains("30s")), "{text}");
        }
    }
}
