//! Paths of files that a scenario names: below the folder of the results and nowhere else.

use std::path::{Component, Path};

/// Why a path may not stand in a scenario.
pub fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.contains('\0') || path.ends_with('/') {
        return Err("no path of a file");
    }
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) => {}
            Component::CurDir => return Err("with `.`"),
            Component::ParentDir => return Err("which leads out of the folder of the results"),
            Component::RootDir | Component::Prefix(_) => {
                return Err("which does not begin in the folder of the results");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_refused() {
        for wrong in ["", "/etc/passwd", "../x", "a/../../x", "a/..", "./x", "a/", "x\0y"] {
            assert!(check_path(wrong).is_err(), "{wrong:?}");
        }
        for right in ["x.npy", "a/b/x.npy", "..x", "a..b/x"] {
            assert!(check_path(right).is_ok(), "{right:?}");
        }
    }
}
