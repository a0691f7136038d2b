//! Files that a scenario names, below the folder of the results and nowhere else: whoever runs a scenario of somebody else's
//! must not lose a file by it.

use crate::scenario::check_path;
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Creates the file that `path` names below `folder`, with the folders that lead there. No link is followed.
#[expect(clippy::disallowed_methods, reason = "what is recorded goes to a file; the stages never see it")]
pub fn create_below(folder: &Path, path: &str) -> Result<File, Error> {
    check_path(path).map_err(|why| Error::new(ErrorKind::InvalidInput, format!("a path {why}")))?;
    let mut at: PathBuf = folder.to_path_buf();
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    for (i, part) in parts.iter().enumerate() {
        at.push(part);
        match std::fs::symlink_metadata(&at) {
            Ok(there) if there.file_type().is_symlink() => {
                let said =
                    format!("{} is a symbolic link, which may lead out of the folder of the results", at.display());
                return Err(Error::new(ErrorKind::InvalidInput, said));
            }
            Err(e) if e.kind() == ErrorKind::NotFound && i + 1 < parts.len() => std::fs::create_dir_all(&at)?,
            _ => {}
        }
    }
    File::create(at)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes files and looks at them")]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_followed() {
        let folder = std::env::temp_dir().join(format!("crosswind-files-{}", std::process::id()));
        let (inside, outside) = (folder.join("in"), folder.join("out"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("precious"), "kept").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("there")).unwrap();
        std::os::unix::fs::symlink(outside.join("precious"), inside.join("file")).unwrap();
        for wrong in ["there/precious", "file", "../out/precious", "there/new"] {
            assert!(create_below(&inside, wrong).is_err(), "{wrong}");
        }
        assert!(create_below(&inside, "a/b/own").is_ok() && inside.join("a/b/own").is_file());
        assert_eq!(std::fs::read_to_string(outside.join("precious")).unwrap(), "kept");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
