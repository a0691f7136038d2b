//! Names that a scenario gives, and those that it asks for and that nothing has.

use crosswind_base::{ConfigError, config};

const NAME_LIMIT_CHARS: usize = 64;

/// Names of scenarios, nodes, links and flows.
pub fn name(name: &str, path: &str) -> Result<(), ConfigError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= NAME_LIMIT_CHARS && name.chars().all(fits) {
        return Ok(());
    }
    let short: String = name.chars().take(NAME_LIMIT_CHARS).collect();
    let expected = format!("a name of 1 to {NAME_LIMIT_CHARS} characters from a-z, 0-9, `-` and `_`");
    Err(ConfigError::new(path, format!("`{short}`"), expected))
}

/// An unknown name among many: like `ConfigError::unknown`, but the list of valid ones is cut short.
pub fn unknown(name: &str, path: &str, what: &str, valid: &[&str]) -> ConfigError {
    const SHOWN: usize = 12;
    let short: String = name.chars().take(NAME_LIMIT_CHARS).collect();
    let mut listed: Vec<&str> = valid.iter().copied().take(SHOWN).collect();
    listed.sort_unstable();
    let more = if valid.len() > SHOWN { format!(" and {} more", valid.len() - SHOWN) } else { String::new() };
    let e = ConfigError::new(path, format!("`{short}`"), format!("{what}: one of {}{more}", listed.join(", ")));
    match config::nearest(&short, valid) {
        Some(n) => e.hint(format!("did you mean `{n}`?")),
        None => e,
    }
}
