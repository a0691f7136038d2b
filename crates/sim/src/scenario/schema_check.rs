//! For tests: checks a value against the part of JSON Schema that scenario schemas use.

use serde_json::Value;

pub fn accepts(root: &Value, value: &Value) -> Result<(), String> {
    check(root, root, value, "")
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(keys) = schema.as_object() else {
        return if schema == &Value::Bool(false) { Err(format!("{at}: nothing is allowed here")) } else { Ok(()) };
    };
    for (keyword, arg) in keys {
        let ok = match keyword.as_str() {
            "$ref" => {
                let name = arg.as_str().and_then(|r| r.strip_prefix("#/")).ok_or(format!("{at}: reference {arg}"))?;
                let target = root.pointer(&format!("/{name}")).ok_or(format!("{at}: no such definition {arg}"))?;
                check(root, target, value, at)?;
                true
            }
            "type" => match arg {
                Value::String(t) => is(t, value),
                types => types.as_array().is_some_and(|ts| ts.iter().filter_map(Value::as_str).any(|t| is(t, value))),
            },
            "const" => arg == value,
            "enum" => arg.as_array().is_some_and(|a| a.contains(value)),
            "minimum" => value.as_f64().is_none_or(|v| v >= arg.as_f64().unwrap_or(f64::MIN)),
            "maximum" => value.as_f64().is_none_or(|v| v <= arg.as_f64().unwrap_or(f64::MAX)),
            "required" => {
                arg.as_array().into_iter().flatten().filter_map(Value::as_str).all(|k| value.get(k).is_some())
            }
            "oneOf" | "anyOf" => {
                let all = arg.as_array().ok_or(format!("{at}: {keyword} is no list"))?;
                let tried: Vec<_> = all.iter().map(|s| check(root, s, value, at)).collect();
                let fit = tried.iter().filter(|r| r.is_ok()).count();
                if !(fit == 1 || (fit > 1 && keyword == "anyOf")) {
                    return Err(format!("{at}: {fit} alternatives of {keyword} fit: {tried:?}"));
                }
                true
            }
            "allOf" => {
                arg.as_array().into_iter().flatten().try_for_each(|s| check(root, s, value, at))?;
                true
            }
            "properties" | "additionalProperties" | "patternProperties" => {
                members(root, keys, value, at)?;
                true
            }
            "items" => {
                value.as_array().into_iter().flatten().try_for_each(|v| check(root, arg, v, &format!("{at}[]")))?;
                true
            }
            "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= arg.as_u64().unwrap_or(0)),
            "maxItems" => value.as_array().is_none_or(|a| a.len() as u64 <= arg.as_u64().unwrap_or(u64::MAX)),
            "uniqueItems" | "$schema" | "$defs" | "title" | "description" | "default" | "format" | "pattern" => true,
            other => return Err(format!("{at}: keyword {other} is not known to this checker")),
        };
        if !ok {
            return Err(format!("{at}: {value} against {keyword} {arg}"));
        }
    }
    Ok(())
}

fn members(root: &Value, keys: &serde_json::Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let known = keys.get("properties").and_then(Value::as_object);
    let patterns = keys.get("patternProperties").and_then(Value::as_object);
    for (k, v) in value.as_object().into_iter().flatten() {
        let path = format!("{at}.{k}");
        // The one pattern that these schemas have is that of a number.
        if let Some(number) = patterns.and_then(|p| p.values().next()).filter(|_| k.parse::<u32>().is_ok()) {
            check(root, number, v, &path)?;
            continue;
        }
        match (known.and_then(|p| p.get(k)), keys.get("additionalProperties")) {
            (Some(s), _) | (None, Some(s)) => check(root, s, v, &path)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}
