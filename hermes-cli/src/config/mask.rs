//! Secrets, shown so that their owner knows which they are.

/// From this length on a part of a secret tells nobody the rest.
const LONG: usize = 20;

/// A long secret's first and last letters; of a short one, nothing.
pub fn masked(secret: &str) -> String {
    let letters: Vec<char> = secret.trim().chars().collect();
    if letters.len() < LONG {
        return "***".to_owned();
    }
    let (head, tail) = (&letters[..3], &letters[letters.len() - 4..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_secrets_show_their_ends_and_short_ones_nothing() {
        assert_eq!(masked("sk-0123456789-abcdefgh-wxyz"), "sk-…wxyz");
        assert_eq!(
            masked(" 钥匙钥匙钥匙钥匙钥匙钥匙钥匙钥匙钥匙钥匙 "),
            "钥匙钥…匙钥匙钥".replace("匙钥匙钥", "钥匙钥匙")
        );
        for short in ["", "k", "sk-1234", "sk-1234567890123456"] {
            assert_eq!(masked(short), "***");
        }
    }
}
