//! Descriptions of JSON errors.

/// Describes a JSON error by position and category, without content, which may be a member's text.
pub fn json_fault(error: &serde_json::Error) -> String {
    let category = match error.classify() {
        serde_json::error::Category::Io => "io",
        serde_json::error::Category::Syntax => "syntax",
        serde_json::error::Category::Data => "data",
        serde_json::error::Category::Eof => "eof",
    };
    format!("{category} error at line {} column {}", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_fault_holds_no_content() {
        let error = serde_json::from_str::<Vec<i64>>(r#"["a secret"]"#).unwrap_err();
        assert!(error.to_string().contains("a secret"));
        expect!["data error at line 1 column 11"].assert_eq(&json_fault(&error));
    }
}
