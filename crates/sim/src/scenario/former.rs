//! Former names of keys and types of links, which stay valid in scenario files. Nothing else knows them.

use crosswind_base::ConfigError;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Keys: what they are called now.
const KEYS: [(&str, &str); 2] = [("on_demand", "channel_allocation"), ("slow_path", "processing_delay")];
const TYPES: [(&str, &str); 2] = [("detour", "reordering"), ("repair", "arq")];

/// The scenario with present names. One key by both names is refused. Only links are looked into: what users name themselves may be
/// called as it likes.
pub(super) fn renamed(scenario: &Value) -> Result<Cow<'_, Value>, ConfigError> {
    let mut present = Cow::Borrowed(scenario);
    for (pointer, path) in links(scenario) {
        let Some(Value::Object(link)) = scenario.pointer(&pointer) else { continue };
        if is_former(link)
            && let Some(Value::Object(link)) = present.to_mut().pointer_mut(&pointer)
        {
            rename(link, &path)?;
        }
    }
    Ok(present)
}

/// Where tables of links stand, as pointers and as paths: by name, in the template, in changes; and what their reverse differs in.
fn links(scenario: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (table, pair) in [("link", false), ("topology", false), ("topology/pair", true)] {
        let keys = scenario.pointer(&format!("/{table}")).and_then(Value::as_object).into_iter().flat_map(Map::keys);
        found.extend(keys.filter(|k| pair || *k != "pair").map(|k| format!("{table}/{k}")));
    }
    let changes = scenario.get("timeline").and_then(Value::as_array).map_or(0, Vec::len);
    found.extend((0..changes).map(|i| format!("timeline/{i}/set")));
    let all = found.into_iter().flat_map(|at| [format!("/{at}/reverse"), format!("/{at}")]);
    all.map(|at| (at.clone(), path_of(&at))).collect()
}

/// `/timeline/3/set` is `timeline[3].set`.
fn path_of(pointer: &str) -> String {
    let (mut path, mut in_list) = (String::new(), false);
    for step in pointer.split('/').skip(1) {
        match in_list {
            true => path += &format!("[{step}]"),
            false if path.is_empty() => path += step,
            false => path += &format!(".{step}"),
        }
        in_list = path == "timeline";
    }
    path
}

fn present<'a>(names: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    names.iter().find(|(former, _)| *former == name).map(|(_, present)| *present)
}

fn is_former(link: &Map<String, Value>) -> bool {
    KEYS.iter().any(|(former, _)| link.contains_key(*former)) || type_of(link).is_some()
}

fn type_of(link: &Map<String, Value>) -> Option<&'static str> {
    link.get("type").and_then(Value::as_str).and_then(|t| present(&TYPES, t))
}

fn rename(link: &mut Map<String, Value>, path: &str) -> Result<(), ConfigError> {
    for (former, present) in KEYS {
        let Some(moved) = link.remove(former) else { continue };
        if link.contains_key(present) {
            let found = format!("`{former}` beside `{present}`");
            return Err(ConfigError::new(format!("{path}.{former}"), found, "one of them: both are the same key"));
        }
        link.insert(present.into(), moved);
    }
    if let Some(present) = type_of(link) {
        link.insert("type".into(), present.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::scenario::parse::{normalise, parse_value};
    use crate::scenario::{Registries, json_schema};
    use serde_json::{Value, json};

    #[test]
    fn former_keys_and_types_of_links_stay_valid_and_are_not_offered() {
        let flow = json!({"f": {"from": "a", "to": "b", "workload": {"type": "bulk"}}});
        let with = |link: Value| json!({"name": "s", "duration": "10 s", "flow": flow, "link": {"l": link}});
        let of = |kind: &str, extra: [&str; 2]| {
            with(json!({"from": "a", "to": "b", "type": kind, extra[0]: {}, "reverse": {extra[1]: {}}}))
        };
        for (former, present) in [("detour", "reordering"), ("repair", "arq")] {
            let old = of(former, ["on_demand", "slow_path"]);
            let new = of(present, ["channel_allocation", "processing_delay"]);
            let (old, new) = (parse_value(&old, &Registries).unwrap(), parse_value(&new, &Registries).unwrap());
            assert_eq!(normalise(&old), normalise(&new));
        }
        let both = with(json!({"from": "a", "to": "b", "slow_path": {}, "processing_delay": {}}));
        assert_eq!(parse_value(&both, &Registries).unwrap_err().path, "link.l.slow_path");
        let schema = json_schema(&Registries).to_string();
        assert!(!schema.contains("slow_path") && !schema.contains("\"detour\"") && schema.contains("processing_delay"));
    }
    #[test]
    fn former_names_are_read_in_templates_and_in_changes() {
        let of = |[key, kind]: [&str; 2]| {
            json!({
                "name": "s", "duration": "10 s",
                "topology": {"template": "dumbbell", "bottleneck": {"type": kind, "reverse": {key: {}}}, "pair": {"1": {key: {}}}},
                "flow": {"f": {"from": "left-1", "to": "right-1", "workload": {"type": "bulk"}}},
                "timeline": [{"at": "1 s", "link": "bottleneck", "direction": "reverse", "set": {key: {"delay": "1 ms"}}}]
            })
        };
        let (old, new) = (of(["slow_path", "detour"]), of(["processing_delay", "reordering"]));
        assert_eq!(super::renamed(&old).unwrap().as_ref(), &new);
        assert_eq!(
            normalise(&parse_value(&old, &Registries).unwrap()),
            normalise(&parse_value(&new, &Registries).unwrap())
        );
        assert!(matches!(super::renamed(&new).unwrap(), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn what_users_name_themselves_keeps_its_name() {
        let class = json!({"type": "drr", "class": {"slow_path": {}, "on_demand": {}}, "default": "slow_path", "filter": [{"flow": "on_demand", "class": "on_demand"}]});
        let s = json!({
            "name": "on_demand", "duration": "10 s",
            "link": {"slow_path": {"from": "on_demand", "to": "detour", "queue": class}},
            "flow": {"on_demand": {"from": "on_demand", "to": "detour", "workload": {"type": "bulk"}}},
        });
        assert_eq!(super::renamed(&s).unwrap().as_ref(), &s);
        let read = parse_value(&s, &Registries).unwrap();
        assert!(read.link.contains_key("slow_path") && read.flow.contains_key("on_demand"));
    }
}
