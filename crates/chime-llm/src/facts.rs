//! Facts about a model server, parsed from its own reports: context size, number of concurrent calls (slots), parameter
//! count, prompt speed. Pure functions.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use crate::phrases::PHRASES;

const OLLAMA_CONTEXT: usize = 4096;
/// Number of concurrent calls assumed for a server that batches them (vLLM, SGLang) or belongs to a provider.
pub const MANY_SLOTS: usize = 8;
/// Prompt tokens per second below which a server counts as slow.
const SLOW: f64 = 300.0;
/// Parameters below which a model counts as weak.
const WEAK: u64 = 8_000_000_000;
/// Parameters below which a model counts as small.
const SMALL: u64 = 5_000_000_000;
/// Parameters below which an answer that no message supports is mostly wrong: 25 of 29 of Qwen2.5 with 1.5 billion.
const INVENTING: u64 = 2_000_000_000;
/// Parameters below which a model counts as tiny.
const TINY: u64 = 1_000_000_000;
/// Minimum number of uncached tokens for a speed measurement: with fewer, network latency dominates.
const TELLING_TOKENS: u64 = 200;
/// Number of latest speed measurements, whose median is the speed.
const MEASURED: usize = 8;
/// Plausible context sizes, in tokens. Other values are ignored.
const CONTEXT_SIZES: std::ops::RangeInclusive<usize> = 256..=100_000_000;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerFacts {
    /// Context size: maximum number of tokens of prompt and answer together.
    pub context: Option<usize>,
    /// Number of calls that the server processes concurrently.
    pub slots: Option<usize>,
    /// Number of parameters, as the server reports it or as the model's name tells.
    pub parameters: Option<u64>,
    /// Prompt tokens processed per second.
    pub reads_per_second: Option<f64>,
}

impl ServerFacts {
    /// Returns `true` if the model is known to be slow at processing prompts.
    pub fn is_slow(&self) -> bool {
        self.reads_per_second.is_some_and(|speed| speed < SLOW)
    }

    pub fn is_weak(&self) -> bool {
        self.is_slow() || self.has_fewer(WEAK)
    }

    /// Returns `true` if the model has few parameters. Such a model answers worse if it has to cite, uses tools badly,
    /// and gets half of a summary wrong.
    pub fn is_small(&self) -> bool {
        self.has_fewer(SMALL)
    }

    /// Returns `true` if the model has so few parameters that it often invents what no message says.
    pub fn often_invents(&self) -> bool {
        self.has_fewer(INVENTING)
    }

    /// Returns `true` if the model has so few parameters that it mostly invents its answers.
    pub fn is_tiny(&self) -> bool {
        self.has_fewer(TINY)
    }

    fn has_fewer(&self, limit: u64) -> bool {
        self.parameters.is_some_and(|parameters| parameters < limit)
    }

    /// Returns these facts. If the server reports no number of parameters, it is read from the model's name.
    #[must_use]
    pub fn or_of_name(self, model: &str) -> Self {
        Self { parameters: self.parameters.or_else(|| parameters_in_name(model)), ..self }
    }

    /// Returns these facts. Those that are missing come from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            context: self.context.or(other.context),
            slots: self.slots.or(other.slots),
            parameters: self.parameters.or(other.parameters),
            reads_per_second: self.reads_per_second.or(other.reads_per_second),
        }
    }

    /// Parses `GET /props` of llama.cpp, which reports the context size of a single slot.
    pub fn of_props(body: &Value) -> Self {
        Self {
            context: size(body.pointer("/default_generation_settings/n_ctx")),
            slots: number(body.get("total_slots")).filter(|slots| *slots > 0),
            ..Self::default()
        }
    }

    /// Parses `GET /v1/models`, in which vLLM, OpenRouter, Groq and llama.cpp report the context size of each model.
    pub fn of_models(body: &Value, model: &str) -> Self {
        let Some(entry) = entry_of(body, model) else { return Self::default() };
        let reported = ["max_model_len", "context_length", "context_window", "max_context_length"];
        // OpenRouter also reports the size at the provider that it usually chooses, which may be smaller.
        let of_provider = size(entry.pointer("/top_provider/context_length"));
        let context = reported.iter().find_map(|key| size(entry.get(key))).into_iter().chain(of_provider).min();
        let of_meta = |key: &str| entry.get("meta").and_then(|meta| meta.get(key));
        Self {
            context: context.or_else(|| size(of_meta("n_ctx"))).or_else(|| size(of_meta("n_ctx_train"))),
            slots: size(entry.get("max_model_len")).map(|_| MANY_SLOTS),
            parameters: of_meta("n_params").and_then(Value::as_u64),
            ..Self::default()
        }
    }

    /// Parses `GET /api/v0/models` of LM Studio, which reports the context of a loaded model.
    pub fn of_studio(body: &Value, model: &str) -> Self {
        let entry = entry_of(body, model);
        Self { context: entry.and_then(|entry| size(entry.get("loaded_context_length"))), ..Self::default() }
    }

    /// Parses `POST /api/show` of Ollama, which reports the context size and parameter count of a model.
    pub fn of_show(body: &Value) -> Self {
        let info = body.get("model_info").and_then(Value::as_object);
        let trained = info.and_then(|info| {
            info.iter().find(|entry| entry.0.ends_with(".context_length")).and_then(|entry| size(Some(entry.1)))
        });
        let settings = body.get("parameters").and_then(Value::as_str).unwrap_or_default();
        let set = settings.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
        let counted = info.and_then(|info| info.get("general.parameter_count")).and_then(Value::as_u64);
        let named = body.pointer("/details/parameter_size").and_then(Value::as_str);
        Self {
            context: info.map(|_| set.unwrap_or(trained.map_or(OLLAMA_CONTEXT, |most| most.min(OLLAMA_CONTEXT)))),
            parameters: counted.or_else(|| named.and_then(parameters)),
            ..Self::default()
        }
    }

    /// Parses `GET /api/ps` of Ollama, which reports the context of a loaded model.
    pub fn of_loaded(body: &Value, model: &str) -> Self {
        let loaded = body.get("models").and_then(Value::as_array);
        let is_asked = |entry: &&Value| {
            entry["name"].as_str().is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
        };
        let entry = loaded.and_then(|loaded| loaded.iter().find(is_asked));
        Self { context: entry.and_then(|entry| size(entry.get("context_length"))), ..Self::default() }
    }
}

/// Returns the entry of a model in a list of models. A server that lists a single model uses it for any requested name.
fn entry_of<'v>(body: &'v Value, model: &str) -> Option<&'v Value> {
    let listed = listed(body)?;
    listed.iter().find(|entry| entry["id"] == model).or(listed.first().filter(|_| listed.len() == 1))
}

/// Parses the number of parameters from a model's name, such as `llama3.2:1b`, `Qwen2.5-1.5B-Instruct` or
/// `SmolLM2-135M`; `None` if the name has none.
fn parameters_in_name(name: &str) -> Option<u64> {
    /// A smaller size is something else, such as the context size in `sonnet-1m`.
    const SMALLEST: u64 = 10_000_000;
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    parts.filter_map(parameters).find(|parameters| *parameters >= SMALLEST)
}

/// Parses the context size from a refusal such as “maximum context length is 8192 tokens”. `None` if it names no
/// plausible size.
pub fn context_in_refusal(body: &str) -> Option<usize> {
    const BETWEEN: usize = 24;
    let body = body.to_lowercase();
    let number_behind = |phrase: &str| {
        body.match_indices(phrase).find_map(|found| {
            let rest: String = body[found.0 + phrase.len()..].chars().filter(|c| *c != ',').collect();
            let start = rest.find(|c: char| c.is_ascii_digit()).filter(|start| *start <= BETWEEN)?;
            let digits: String = rest[start..].chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok().filter(|size| CONTEXT_SIZES.contains(size))
        })
    };
    PHRASES.before_size.iter().find_map(|phrase| number_behind(phrase))
}

/// Prompt processing as measured by the server: number of uncached tokens, and tokens per second. `None` if not
/// reported.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReadingTime(Option<(u64, f64)>);

impl ReadingTime {
    /// Parses the `timings` of llama.cpp: uncached prompt tokens, and prompt tokens per second.
    pub fn of(body: &Value) -> Self {
        let timings = &body["timings"];
        Self(timings["prompt_n"].as_u64().zip(timings["prompt_per_second"].as_f64()))
    }

    /// Returns these timings, or `earlier` if there are none.
    #[must_use]
    pub fn or(self, earlier: Self) -> Self {
        Self(self.0.or(earlier.0))
    }

    /// Returns the prompt tokens per second, or `None` if too few tokens were processed to tell. If the server reported
    /// no timings, divides `read` tokens by `first`, the time until the first generated token.
    pub fn speed(self, read: u64, first: Option<Duration>) -> Option<f64> {
        let timed = || Some((read, read as f64 / first?.as_secs_f64().max(0.001)));
        let (read, speed) = self.0.or_else(timed)?;
        (read >= TELLING_TOKENS && speed.is_finite() && speed > 0.0).then_some(speed)
    }
}

/// The latest measurements of a model's prompt speed.
#[derive(Debug, Clone, Default)]
pub struct Speeds(VecDeque<f64>);

impl Speeds {
    pub fn add(&mut self, speed: f64) {
        if self.0.len() == MEASURED {
            self.0.pop_front();
        }
        self.0.push_back(speed);
    }

    pub fn typical(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        // The median. Of two middle values the lower one, because it is safer to underestimate a server's speed.
        sorted.get(sorted.len().checked_sub(1)? / 2).copied()
    }
}

/// Returns the models in an answer to `GET /v1/models`: a list under `data`, or the bare list of Together.
pub fn listed(body: &Value) -> Option<&Vec<Value>> {
    body.get("data").unwrap_or(body).as_array()
}

/// Parses a number, which some servers write as a string.
fn number(value: Option<&Value>) -> Option<usize> {
    let value = value?;
    value.as_str().map_or_else(|| usize::try_from(value.as_u64()?).ok(), |text| text.trim().parse().ok())
}

pub fn size(value: Option<&Value>) -> Option<usize> {
    number(value).filter(|size| CONTEXT_SIZES.contains(size))
}

/// Parses a parameter count such as `8.0B` or `135M`.
fn parameters(written: &str) -> Option<u64> {
    let (number, unit) = written.trim().split_at_checked(written.trim().len().checked_sub(1)?)?;
    let unit = match unit {
        "B" | "b" => 1e9,
        "M" | "m" => 1e6,
        _ => return None,
    };
    let count = number.parse::<f64>().ok()? * unit;
    (count.is_finite() && count > 0.0).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reported(facts: ServerFacts) -> (Option<usize>, Option<usize>, Option<u64>) {
        (facts.context, facts.slots, facts.parameters)
    }

    #[test]
    fn llama_cpp_tells_the_context_of_a_slot() {
        let props = json!({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2});
        assert_eq!(reported(ServerFacts::of_props(&props)), (Some(8192), Some(2), None));
        assert_eq!(ServerFacts::of_props(&json!({"error": {"code": 404}})), ServerFacts::default());
    }

    #[test]
    fn lists_of_models_tell_it_in_many_ways() {
        let vllm = json!({"data": [{"id": "q", "owned_by": "vllm", "max_model_len": 32768}]});
        assert_eq!(reported(ServerFacts::of_models(&vllm, "q")), (Some(32_768), Some(MANY_SLOTS), None));
        let llama =
            json!({"data": [{"id": "local", "meta": {"n_ctx": 8192, "n_ctx_train": 32768, "n_params": 1777088000}}]});
        assert_eq!(reported(ServerFacts::of_models(&llama, "any name")), (Some(8192), None, Some(1_777_088_000)));
        let router = json!({"data": [{"id": "a", "context_length": 1000}, {"id": "b", "context_length": 131072}]});
        assert_eq!(reported(ServerFacts::of_models(&router, "b")), (Some(131_072), None, None));
        assert_eq!(ServerFacts::of_models(&router, "c"), ServerFacts::default());
        let context = |models: Value| ServerFacts::of_models(&models, "a").context;
        assert_eq!(context(json!([{"id": "a", "context_length": 2048}, {"id": "b"}])), Some(2048));
        assert_eq!(context(json!({"data": [{"id": "a", "context_length": "2048"}]})), Some(2048));
        assert_eq!(context(json!({"data": [{"id": "a", "context_length": "large"}]})), None);
        for (all, chosen) in [(8192, json!(2048)), (2048, json!(8192)), (2048, json!(null))] {
            let entry = json!({"id": "a", "context_length": all, "top_provider": {"context_length": chosen}});
            assert_eq!(context(json!({"data": [entry]})), Some(2048));
        }
        assert_eq!(ServerFacts::of_models(&json!({"data": [{"id": "gpt"}]}), "gpt"), ServerFacts::default());
    }

    #[test]
    fn ollama_tells_what_is_set_or_gives_its_default() {
        let show = |parameters: &str, trained: u64| {
            json!({
                "parameters": parameters, "details": {"parameter_size": "1.5B"},
                "model_info": {"general.architecture": "qwen2", "qwen2.context_length": trained},
            })
        };
        let context = |parameters, trained| ServerFacts::of_show(&show(parameters, trained)).context;
        assert_eq!(context("stop \"<|im_end|>\"\nnum_ctx                        16384", 32_768), Some(16_384));
        assert_eq!(context("", 32_768), Some(4096));
        assert_eq!(context("", 2048), Some(2048));
        assert_eq!(ServerFacts::of_show(&show("", 2048)).parameters, Some(1_500_000_000));
        assert_eq!(ServerFacts::of_show(&json!({"error": "not found"})), ServerFacts::default());
        let loaded = json!({"models": [{"name": "qwen:latest", "context_length": 8192}]});
        assert_eq!(ServerFacts::of_loaded(&loaded, "qwen").context, Some(8192));
        assert_eq!(ServerFacts::of_loaded(&loaded, "llama").context, None);
    }

    #[test]
    fn a_refusal_names_the_size() {
        for (body, size) in [
            (
                r#"{"error":{"message":"the request exceeds the available context size","n_prompt_tokens":9001,"n_ctx":4096}}"#,
                Some(4096),
            ),
            ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", Some(8192)),
            ("request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it", Some(4096)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", Some(4096)),
            ("`inputs` must have less than 4,097 tokens. Given: 5000", Some(4097)),
            ("the model is loaded with context length of only 4096 tokens", Some(4096)),
            ("Please reduce the length of the messages or completion.", None),
            ("Input is too long for requested model.", None),
        ] {
            assert_eq!(context_in_refusal(body), size, "{body}");
        }
    }

    #[test]
    fn the_speed_is_that_of_uncached_tokens() {
        let llama = json!({"timings": {"cache_n": 900, "prompt_n": 400, "prompt_per_second": 110.5}});
        assert_eq!(ReadingTime::of(&llama).speed(1300, None), Some(110.5));
        let first = Some(Duration::from_secs(2));
        assert_eq!(ReadingTime::default().speed(600, first), Some(300.0));
        assert_eq!(ReadingTime::default().speed(100, first), None, "too few to tell");
        assert_eq!(ReadingTime::default().speed(600, None), None);
        let few = json!({"timings": {"prompt_n": 20, "prompt_per_second": 9.0}});
        assert_eq!(ReadingTime::of(&few).speed(1300, first), None);
    }

    #[test]
    fn one_measurement_that_is_off_changes_little() {
        let mut speeds = Speeds::default();
        assert_eq!(speeds.typical(), None);
        for speed in [100.0, 90_000.0, 110.0] {
            speeds.add(speed);
        }
        assert_eq!(speeds.typical(), Some(110.0));
        for _ in 0..MEASURED {
            speeds.add(40.0);
        }
        assert_eq!(speeds.typical(), Some(40.0));
    }

    #[test]
    fn small_and_slow_models_are_weak() {
        let facts =
            |parameters, reads_per_second| ServerFacts { parameters, reads_per_second, ..ServerFacts::default() };
        assert!(facts(Some(1_500_000_000), Some(5000.0)).is_weak());
        assert!(facts(None, Some(110.0)).is_weak() && facts(None, Some(110.0)).is_slow());
        assert!(!facts(Some(70_000_000_000), None).is_weak());
        assert!(!facts(None, None).is_weak());
        assert_eq!(
            ["8.0B", "135M", "7b", "big", ""].map(parameters),
            [Some(8_000_000_000), Some(135_000_000), Some(7_000_000_000), None, None]
        );
    }

    #[test]
    fn names_tell_sizes() {
        for (name, expected) in [
            ("llama3.2:1b", Some(1_000_000_000)),
            ("Qwen2.5-1.5B-Instruct", Some(1_500_000_000)),
            ("SmolLM2-135M", Some(135_000_000)),
            ("qwen2.5:72b-instruct-q4_K_M", Some(72_000_000_000)),
            ("gpt-4.1-mini", None),
            ("o3", None),
            ("sonnet-4-1m", None),
            ("mistral-small", None),
        ] {
            assert_eq!(parameters_in_name(name), expected, "{name}");
        }
    }

    #[test]
    fn the_size_that_a_server_reports_wins_over_the_name() {
        let facts = |parameters, name: &str| ServerFacts { parameters, ..ServerFacts::default() }.or_of_name(name);
        assert!(facts(None, "llama3.2:1b").is_small() && facts(Some(1_500_000_000), "gpt-70b").is_small());
        assert!(facts(None, "SmolLM2-135M").is_tiny() && !facts(None, "llama3.2:1b").is_tiny());
        assert!(facts(None, "llama3.2:1b").often_invents() && !facts(None, "llama3.2:3b").often_invents());
        assert!(facts(None, "qwen2.5:7b").is_weak() && !facts(None, "llama-3.1-8b").is_weak());
        assert!(!facts(None, "local").is_small() && !facts(Some(8_000_000_000), "1b").is_small());
    }
}
