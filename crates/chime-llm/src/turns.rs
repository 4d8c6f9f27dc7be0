//! Turn tokens of chat templates, such as `<|im_end|>`. A server that does not know a model's template sends them as
//! text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::code::{SENTENCE_ENDS, code_ranges, is_in};
use chime_core::pattern;

/// A template token: `<|im_end|>`, `<|turn>`, `<turn|>`, `<｜end▁of▁sentence｜>`, `</s>`, `<end_of_turn>`, `[INST]`,
/// `[|endofturn|]`, `<unused7>`, `[PAD151645]`, `<pad>`, `[gMASK]`.
pub static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"<\|[^|<>\n]{1,40}\|>|<\|[a-z_]{1,40}>|<[a-z_]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<(?:start|end)_of_(?:turn|utterance)>|<(?i:bos|eos|pad|eot|unk|sop|eop)>|<im_(?:start|end)>|<\|im_end\z|<(?:unused|reserved_|extra_id_|SPECIAL_)\d{1,4}>|\[(?:PAD|UNUSED_TOKEN_)\d{1,6}\]|\[[gs]MASK\]|\[\|[a-z]{1,20}\|\]|<</?SYS>>|\[/?INST\]|\[e~\[",
    )
});

/// Names of the model's role in templates.
pub const ROLES: [&str; 3] = ["assistant", "model", "bot"];

/// Role name after a turn token, which is part of the markup.
static ROLE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"^(?i:{})\s*(?:\n|<\||$)", ROLES.join("|"))));

/// Start of a next turn that the model invented without its tokens: a sentence end, a role name and a line break.
static NEXT_TURN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"[.!?…。！？)](?:assistant\n|\n+(?:user|assistant)\n|\s*</assistant>\s*<(?:user|human)>)")
});

/// Name of a token that ends a turn or starts one. Other tokens with "start" or "end" in their names stand around a part
/// of an answer, as in `<|object_ref_start|>`.
static TURN: LazyLock<Regex> = LazyLock::new(|| {
    const PARTS: &str = "header|turn|text|sentence|message|msg|role|utterance|prompt|document|solution|response|answer";
    pattern(&format!(
        r"turn|eot|eos|eom|return|bos|user|sys|extra_id|\[e~\[|assistant|human|inst|im_(?:start|end)|^<\|(?:start|begin|end)\|?>?$|(?:start|begin|end)[_▁]?(?:of)?[_▁]?(?:{PARTS})|(?:{PARTS})[_▁]?(?:start|begin|end)"
    ))
});

/// Parts of the names of tokens around a whole answer, such as `<|begin_of_solution|>`.
const WRAPPERS: [&str; 2] = ["solution", "response"];

/// Tokens that stand for no text.
const FILLERS: [&str; 6] = ["<pad>", "<unk>", "<sop>", "<eop>", "[gmask]", "[smask]"];

/// Returns `true` if a token belongs to a tool call, which [`written_calls`](super::written_calls) parses.
pub fn is_of_calls(token: &str) -> bool {
    ["tool", "python_tag", "call", "plugin", "ACTION"].iter().any(|word| token.contains(word))
}

/// Returns `text` without the tokens and role names at its start. Stops at a token of a tool call, at a token that a
/// sentence mentions, and where `keep` accepts the rest.
pub fn after_start(text: &str, about_tokens: bool, keep: impl Fn(&str) -> bool) -> &str {
    let mut rest = text.trim_start();
    // Servers that know only the first token of a head leave the rest: `assistant<|header_end|>`.
    if let Some(after) = role_before_token(rest).filter(|_| !about_tokens) {
        rest = after;
    }
    while let Some(token) = TOKEN.find(rest).filter(|token| token.start() == 0) {
        if is_of_calls(token.as_str()) || keep(rest) || is_mentioned(rest, token.range(), about_tokens) {
            break;
        }
        rest = rest[token.end()..].trim_start();
        if let Some(role) = ROLE.find(rest) {
            rest = rest[role.as_str().trim_end_matches("<|").len()..].trim_start();
        }
    }
    rest
}

/// Returns the rest of a text that begins with the name of the model's role and a token directly after it.
fn role_before_token(text: &str) -> Option<&str> {
    let after = ROLE.find(text).map(|role| &text[role.as_str().trim_end_matches("<|").trim_end().len()..])?;
    TOKEN.find(after).filter(|token| token.start() == 0).map(|_| after)
}

/// Returns the end of the turn: the position of the first token that ends it or starts the next, outside of code and of
/// sentences about the token.
pub fn end(text: &str, about_tokens: bool) -> usize {
    let code = code_ranges(text);
    let mut next = NEXT_TURN.find_iter(text).map(|next| next.start() + first_char(next.as_str()));
    let next = next.find(|at| !is_in(&code, *at)).unwrap_or(text.len());
    let ends_turn = |token: &regex::Match<'_>| {
        let name = token.as_str().to_lowercase();
        let is_struck = name == "</s>" && text[..token.start()].contains("<s>");
        let says = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let is_open = || {
            let mut before = TOKEN.find_iter(&text[..token.start()]);
            before.any(|other| WRAPPERS.iter().any(|part| other.as_str().contains(part)))
        };
        let is_wrapper = says(&WRAPPERS) && !text[token.end()..].trim().is_empty() && (!says(&["end"]) || is_open());
        !is_of_calls(token.as_str()) && !is_struck && (name == "</s>" || TURN.is_match(&name) && !is_wrapper)
    };
    let is_mark = |token: &regex::Match<'_>| {
        let is_last = text[token.end()..].trim().is_empty();
        is_last || !is_in(&code, token.start()) && !is_mentioned(text, token.range(), about_tokens)
    };
    let token = TOKEN.find_iter(text).find(|token| ends_turn(token) && is_mark(token));
    token.map_or(next, |token| token.start().min(next))
}

fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Returns `true` if a token is one of those that vocabularies reserve, such as `<unused7>` and `[PAD151645]`.
pub fn is_reserved(token: &str) -> bool {
    token.strip_suffix(['>', ']']).is_some_and(|name| name.ends_with(|c: char| c.is_ascii_digit()))
}

/// Returns `true` if a token stands for no text, such as `<pad>`.
pub fn is_filler(token: &str) -> bool {
    FILLERS.contains(&token.to_ascii_lowercase().as_str())
}

/// Returns `true` if a sentence mentions a token, see [`is_mentioned_in_sentence`]. Unless the prompt is `about_tokens`, a
/// special token (`<|…|>`) counts only if it is quoted, one of several, or explained in a list: models leak it between
/// any two words.
pub fn is_mentioned(text: &str, token: Range<usize>, about_tokens: bool) -> bool {
    let Range { start, end } = token;
    // Operators of some programming languages, as in `x <| f |> y`, have blanks between them.
    let token = &text[start..end];
    let is_special = token.contains(['|', '｜']) && !token.contains(' ') || is_reserved(token);
    let bullet = text[..start].trim_end_matches([' ', '-', '*', '•', '|']);
    let before_item = match bullet.strip_suffix(['.', ')']) {
        Some(number) => number.trim_end_matches(|c: char| c.is_ascii_digit()),
        None => bullet,
    };
    let is_quoted = text[..start].ends_with(['"', '\'', '“', '„', '‘', '«', '(']);
    let is_in_a_sentence = text[..start].ends_with(' ') && !ends_sentence(&text[..start]);
    let is_one_of_several = is_in_a_sentence && text[end..].starts_with([',', ';']);
    let is_apart = is_quoted || is_one_of_several || before_item.is_empty() || before_item.ends_with('\n');
    is_mentioned_in_sentence(text, start, end) && (about_tokens || !is_special || is_apart)
}

/// Returns `true` if a mark is mentioned in a sentence: with a blank or a quotation mark before it, and more words or
/// punctuation after it, or followed by an explanation.
pub fn is_mentioned_in_sentence(text: &str, start: usize, end: usize) -> bool {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let (before, behind) = (&text[line_start..start], &text[end..line_end]);
    let quotes = ['"', '\'', '“', '„', '‘', '«', '(', ',', '/'];
    let stands_apart = before.ends_with(|c: char| c.is_whitespace() || quotes.contains(&c));
    let is_explained = behind.starts_with([':', ',', ';']) || behind.starts_with(" |") || behind.starts_with(" =");
    let goes_on = match behind.chars().next() {
        Some(next) if next.is_whitespace() => {
            behind.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '(')
        }
        Some(next) => next.is_ascii_punctuation() && next != '<' && next != '[' || "”“’»、，。".contains(next),
        None => false,
    };
    let is_in_a_sentence = !before.trim_end().is_empty() && !ends_sentence(before);
    is_explained || stands_apart && goes_on && is_in_a_sentence
}

/// Returns `true` if `text` ends with a sentence or with a colon.
fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with(SENTENCE_ENDS) || text.ends_with([':', '：'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        check_answer(text, expected, false);
    }

    #[track_caller]
    fn check_answer(text: &str, expected: &str, about_tokens: bool) {
        let rest = after_start(text, about_tokens, |_| false);
        assert_eq!(rest[..end(rest, about_tokens)].trim_end(), expected, "{text}");
    }

    #[test]
    fn marks_of_a_turn_go() {
        for text in [
            "<|im_start|>assistant\nFriday.<|im_end|>",
            "<|start_header_id|>assistant<|end_header_id|>\n\nFriday.<|eot_id|>",
            "<start_of_turn>model\nFriday.<end_of_turn>",
            "<|assistant|>\nFriday.</s>\n<|eot_id|>",
            "<s>Friday.</s>",
            "<|turn>model\nFriday.<turn|>",
            "<｜Assistant｜>Friday.<｜end▁of▁sentence｜>",
            "Friday.<|END_OF_TURN_TOKEN|>",
            "Friday.<end_of_utterance>",
            "Friday. <eot>",
            "[|assistant|]Friday.[|endofturn|]\n[|user|]And where?",
            "Friday. <</SYS>>",
            "Friday.<im_end>",
            "Friday.<|im_end",
            "Friday.[e~[",
            "Friday. <EOS>",
            "<reserved_107>Friday.",
            "<extra_id_1>Assistant\nFriday.\n<extra_id_1>User",
            "assistant<|header_end|>\n\nFriday.<|eot|>",
            "assistant<|end_header_id|>\n\nFriday.<|eot_id|>",
            "[gMASK]<sop><|assistant|>\nFriday.",
            "[gMASK] <sop> Friday.<|user|>",
            "<pad><pad>Friday.<|message_end|>",
            "Friday.</assistant>\n<user>Thanks!</user>",
        ] {
            check(text, "Friday.");
        }
    }

    #[test]
    fn nothing_is_left_of_a_turn_that_the_model_plays_on() {
        for text in [
            "Friday.<|im_end|>\n<|im_start|>user\nthanks<|im_end|>\n<|im_start|>assistant\nAny time.",
            "Friday.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nthanks",
            "Friday.</s>[INST] thanks [/INST] Any time.",
            "Friday. <end_of_turn>\n<start_of_turn>user\nthanks",
            "Friday.<｜end▁of▁sentence｜><｜User｜>thanks",
            "Friday.<|endoftext|>Human: thanks",
            "Friday. <|im_end|> <|im_start|>user",
            "Friday.assistant\n\nAny time.",
            "Friday.\nuser\nthanks\nassistant\nAny time.",
            "Friday.\n[INST] thanks [/INST]",
            "Friday.<|return|>, at seven.",
            "Friday. <|endoftext|> Human: thanks",
            "Friday. <|im_end|> thanks a lot",
            "Friday. <|im_end|>, thanks",
        ] {
            check(text, "Friday.");
        }
    }

    #[test]
    fn tokens_around_a_part_of_the_answer_do_not_end_it() {
        for name in ["vision", "object_ref", "box", "quad", "image", "audio"] {
            let text = format!("It shows <|{name}_start|>a key<|{name}_end|> on Friday.");
            check(&text, &text);
        }
    }

    #[test]
    fn an_answer_about_the_tokens_stays_whole() {
        for text in [
            "It ends with </s> there.",
            "ChatML ends a turn with <|im_end|>, Llama with <|eot_id|>.",
            "Write \"<|im_end|>\" behind each turn.",
            "Use `<|im_end|>` to end it.\nThen go on.",
            "Like so:\n```\n<|im_start|>user\nhi<|im_end|>\n```\nDone.",
            "It was <s>Thursday</s> Friday.",
            "The roles are:\n- user\n- assistant\n",
            "<|im_start|>: begins a turn\n<|im_end|>: ends it",
            "| token | use |\n| --- | --- |\n| <|im_end|> | ends a turn |",
            "Its [INST] and [/INST] marks stand around a question.",
        ] {
            check_answer(text, text.trim_end(), true);
        }
        for text in [
            "It ends with </s> there.",
            "Write \"<|im_end|>\" behind each turn.",
            "Use `<|im_end|>` to end it.\nThen go on.",
            "Like so:\n```\n<|im_start|>user\nhi<|im_end|>\n```\nDone.",
            "<|im_start|>: begins a turn\n<|im_end|>: ends it",
            "1. <|im_start|>: begins a turn\n2. <|im_end|>: ends it",
            "In Elm, x <| f |> y is no token.",
            "The assistant <|im_start|>, as written there.",
            "Bot",
            "| token | use |\n| --- | --- |\n| <|im_end|> | ends a turn |",
        ] {
            check_answer(text, text, false);
        }
    }
}
