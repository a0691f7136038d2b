//! Scripts in packetdrill's language, line by line in the language of tapes; `docs/how-to/tapes.md` says which part of it is known.

use super::mismatch::{Mismatch, differ};

/// What a script has said so far that later lines need.
#[derive(Default)]
struct Script {
    mss: u64,
    /// The shift of the peer's windows, once its SYN has named one.
    scale: u32,
    offered: Option<u32>,
    has_answered: bool,
}

/// The tape for a script: `params` is the line of parameters that stands for its socket and system. Each line of the result stands
/// where its original stood.
pub fn tape(params: &str, script: &str) -> Result<String, (usize, Mismatch)> {
    let mss = params.split("mss=\"").nth(1).and_then(|t| t.split(' ').next()).and_then(|n| n.parse().ok());
    let mut state = Script { mss: mss.unwrap_or(1460), ..Script::default() };
    let mut out = format!("{params}\n");
    for (i, raw) in script.lines().enumerate() {
        let line = raw.split("//").next().unwrap_or("").trim();
        let line = line.split("/*").next().unwrap_or("").trim_end();
        out += &state.line(line).map_err(|e| (i + 1, e))?;
        out.push('\n');
    }
    Ok(out)
}

impl Script {
    fn line(&mut self, line: &str) -> Result<String, Mismatch> {
        if line.is_empty() || line.starts_with('`') {
            return Ok(String::new());
        }
        if let Some(option) = line.strip_prefix("--") {
            return match option.split_once('=') {
                Some(("tolerance_usecs", n)) => Ok(format!("tolerance {}", number(n)? as f64 / 1e6)),
                _ => Ok(String::new()),
            };
        }
        let (time, event) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let time = time.split("...").next().unwrap_or(time);
        if time.contains('~') {
            return differ("a single time (and --tolerance_usecs)", format!("`{time}`"));
        }
        let event = event.trim();
        let done = match event.split_at_checked(1) {
            Some((way @ ("<" | ">"), segment)) => format!("{way} {}", self.segment(way == "<", segment.trim())?),
            Some(("`", _)) => "wait".into(),
            _ if event.starts_with("%{") => self.assertion(event)?,
            _ => call(event)?,
        };
        Ok(format!("{time} {done}"))
    }

    fn segment(&mut self, arrives: bool, text: &str) -> Result<String, Mismatch> {
        let (text, options) = text.split_once('<').map_or((text, None), |(t, o)| (t, Some(o.trim_end_matches('>'))));
        let mut words = text.split_whitespace().peekable();
        let mut more = Vec::new();
        if let Some(ecn) = words.next_if(|w| w.starts_with('[')) {
            more.push(match ecn {
                "[ce]" => "ce",
                "[ect0]" => "ect",
                "[noecn]" => "not-ect",
                other => return differ("[ce], [ect0] or [noecn]", format!("`{other}`")),
            });
        }
        let flags: String = words.next().unwrap_or("").chars().filter(|c| *c != 'P').collect();
        let range = words.next().unwrap_or("").split('(').next().unwrap_or("");
        let is_syn = flags.contains('S');
        let mut line = if is_syn { flags.clone() } else { format!("{flags} {range}") };
        while let Some(word) = words.next() {
            let value = number(words.next().unwrap_or(""))?;
            match (word, arrives) {
                ("ack", _) => line += &format!(" ack {value}"),
                ("win", true) => line += &format!(" win {}", value << if is_syn { 0 } else { self.scale }),
                // Windows of our own are bytes, and depend on the buffer of the parameters.
                ("win", false) => {}
                _ => return differ("`ack` or `win`", format!("`{word}`")),
            }
        }
        let any_options = options.is_some_and(|o| o.contains("..."));
        for option in options.filter(|_| !any_options).into_iter().flat_map(|o| o.split(',')) {
            line += &self.option(option.trim(), is_syn && arrives)?;
        }
        if any_options && is_syn {
            line += " any-options";
        }
        if is_syn && !arrives {
            self.has_answered |= options.is_some_and(|o| any_options || o.contains("wscale"));
        }
        if let (true, true, Some(shift)) = (is_syn, self.has_answered, self.offered) {
            self.scale = shift;
        }
        let again = if arrives { "" } else { " perhaps-again" };
        Ok(format!("{line} {}{again}", more.join(" ")))
    }

    fn option(&mut self, text: &str, of_peer_syn: bool) -> Result<String, Mismatch> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words[..] {
            [] | ["nop" | "eol"] => String::new(),
            ["sackOK"] => " sackok".into(),
            ["mss", n] => format!(" mss {n}"),
            ["wscale", n] => {
                if of_peer_syn {
                    self.offered = Some(number(n)? as u32);
                }
                format!(" wscale {n}")
            }
            ["TS", "val", v, "ecr", e] => format!(" ts {v}:{e}"),
            ["sack", ref blocks @ ..] => format!(" sack {}", blocks.join(",")),
            _ => return differ("mss, sackOK, nop, eol, wscale, TS or sack", format!("`{text}`")),
        })
    }

    /// `%{ assert tcpi_snd_cwnd == 10 }%`
    fn assertion(&self, text: &str) -> Result<String, Mismatch> {
        let inside = text.trim_start_matches("%{").trim_end_matches("}%").trim();
        let words: Vec<&str> = inside.split([',', ' ']).filter(|w| !w.is_empty()).collect();
        match words[..] {
            ["assert", "tcpi_snd_cwnd", "==", n, ..] => Ok(format!("expect cwnd {}", number(n)? * self.mss)),
            ["assert", "tcpi_snd_ssthresh", "==", n, ..] => Ok(format!("expect ssthresh {}", number(n)? * self.mss)),
            _ => differ("an assertion about tcpi_snd_cwnd or tcpi_snd_ssthresh", format!("`{inside}`")),
        }
    }
}

fn number(word: &str) -> Result<u64, Mismatch> {
    word.trim().parse().or_else(|_| differ("a number", format!("`{word}`")))
}

/// A system call, with what it returns.
fn call(event: &str) -> Result<String, Mismatch> {
    let (name, rest) =
        event.split_once('(').ok_or_else(|| ("a packet or a system call".into(), format!("`{event}`")))?;
    let (arguments, returned) = rest.rsplit_once('=').unwrap_or((rest, "0"));
    let result = returned.split_whitespace().next().unwrap_or("0");
    Ok(match name {
        "socket" | "setsockopt" | "getsockopt" | "bind" | "listen" | "accept" | "fcntl" | "read" | "recv" => {
            "wait".into()
        }
        "connect" => "open".into(),
        "write" | "send" | "sendto" => format!("write {}", number(result)?),
        "close" => "shutdown both".into(),
        "shutdown" if arguments.contains("SHUT_WR") => "shutdown write".into(),
        "shutdown" if arguments.contains("SHUT_RDWR") => "shutdown both".into(),
        _ => return differ("a call that is known: socket, bind, listen, accept, connect, write, read, close ..", name),
    })
}
