//! What stacks log of themselves (qlog): a file for each end, which is made with the first byte.

use super::files::create_below;
use crate::scenario::Plan;
use crate::world::World;
use crosswind_transport::stack::Role;
use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A file that could not be written: its path and the reason.
type Unwritten = (String, Error);

/// The files of one run.
#[derive(Default)]
pub struct Logs(Vec<Log>);

/// A file that a stack writes into; a stack tells nobody of an error, so that the first one is kept here.
#[derive(Clone)]
struct Log(Arc<Mutex<Kept>>);

struct Kept {
    folder: PathBuf,
    /// Below the folder.
    path: String,
    file: Option<BufWriter<File>>,
    broken: Option<Error>,
}

impl Logs {
    /// Tells every stack of a world that is built where it logs; `named` makes the path of a file the one of a repetition.
    pub fn begin(
        plan: &Plan,
        world: &mut World<'_>,
        folder: &Path,
        named: impl Fn(&str) -> String,
    ) -> Result<Logs, Unwritten> {
        let mut logs = Logs::default();
        let Some(below) = &plan.record.qlog else { return Ok(logs) };
        for (flow, ends) in plan.flows.iter().zip(world.ends.chunks_mut(2)) {
            for (role, stack) in ends.iter_mut().filter_map(|e| e.stack()) {
                let role = if role == Role::Client { "client" } else { "server" };
                let path = named(&format!("{below}/{}-{role}.sqlog", flow.name));
                let log = Log::new(folder, path);
                if stack.log_to(Box::new(log.clone())) {
                    log.check()?;
                    logs.0.push(log);
                }
            }
        }
        Ok(logs)
    }

    /// All of it is in the files, or one of them could not be written.
    pub fn finish(self) -> Result<(), Unwritten> {
        self.0.iter().try_for_each(|log| {
            let flushed = log.clone().flush();
            log.check()?;
            flushed.map_err(|e| (log.path(), e))
        })
    }
}

impl Log {
    fn new(folder: &Path, path: String) -> Log {
        Log(Arc::new(Mutex::new(Kept { folder: folder.to_path_buf(), path, file: None, broken: None })))
    }

    /// Fails with what once failed.
    fn check(&self) -> Result<(), Unwritten> {
        let broken = self.0.lock().ok().and_then(|mut kept| kept.broken.take());
        broken.map_or(Ok(()), |e| Err((self.path(), e)))
    }

    fn path(&self) -> String {
        self.0.lock().map_or_else(|_| String::new(), |kept| kept.path.clone())
    }

    fn with<T>(&self, act: impl FnOnce(&mut BufWriter<File>) -> Result<T, Error>) -> Result<T, Error> {
        let mut kept = self.0.lock().map_err(|_| Error::other("a run broke down"))?;
        let Kept { folder, path, file, broken } = &mut *kept;
        let made = match file {
            Some(file) => Ok(file),
            None => create_below(folder, path).map(|made| file.insert(BufWriter::new(made))),
        };
        made.and_then(act).inspect_err(|e| {
            broken.get_or_insert_with(|| Error::new(e.kind(), e.to_string()));
        })
    }
}

impl Write for Log {
    fn write(&mut self, data: &[u8]) -> Result<usize, Error> {
        self.with(|file| file.write(data))
    }
    fn flush(&mut self) -> Result<(), Error> {
        // What has written nothing has no file.
        if self.0.lock().is_ok_and(|kept| kept.file.is_none()) {
            return Ok(());
        }
        self.with(Write::flush)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes files and looks at them")]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_told_at_the_end_and_no_file_is_made_for_nothing() {
        let folder = std::env::temp_dir().join(format!("crosswind-logs-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        let (mut good, silent) = (Log::new(&folder, "q/good".into()), Log::new(&folder, "q/silent".into()));
        let mut bad = Log::new(&folder, "a".into());
        good.write_all(b"text").unwrap();
        assert!(bad.write_all(b"text").is_err(), "a folder stands there");
        assert!(Logs(vec![good.clone(), silent]).finish().is_ok());
        assert_eq!(std::fs::read_to_string(folder.join("q/good")).unwrap(), "text");
        assert!(!folder.join("q/silent").exists());
        assert_eq!(Logs(vec![good, bad]).finish().unwrap_err().0, "a");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
