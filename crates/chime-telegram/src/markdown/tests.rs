//! Renderings of Markdown as a reader sees them.

use expect_test::{Expect, expect};

use super::to_entities;
use chime_core::{EntityKind, utf16_slice};

/// Shows the text between `|` edges, then each entity with its text.
#[track_caller]
fn check(markdown: &str, expected: Expect) {
    let formatted = to_entities(markdown);
    let mut shown: Vec<String> = formatted.text.split('\n').map(|line| format!("|{line}|")).collect();
    for entity in &formatted.entities {
        let kind = match &entity.kind {
            EntityKind::TextLink { url } => format!("Link {url}"),
            EntityKind::Pre { language } => format!("Pre {}", language.as_deref().unwrap_or("-")),
            kind => format!("{kind:?}"),
        };
        let words = utf16_slice(&formatted.text, entity.offset, entity.length);
        shown.push(format!("{kind} {}+{} {words:?}", entity.offset, entity.length));
    }
    expected.assert_eq(&shown.join("\n"));
}

#[track_caller]
fn check_unchanged(text: &str) {
    let formatted = to_entities(text);
    assert_eq!((formatted.text.as_str(), formatted.entities.len()), (text, 0));
}

#[test]
fn text_that_is_no_markdown_passes_unchanged() {
    for text in [
        "2 * 3 * 4 = 24",
        "snake_case_name and _",
        "#5 and #topic",
        "5~10 and 20~30",
        "5*3*2 = 30, 2**10 = 1024, f(x)=x**2**3",
        "__init__.py and __main__",
        "https://x.example/a_b_c*d*e?x=1",
        "[^1 and [^x] and [^",
        "| a | b |\n\n| c | d |",
        "a || b, (a||b) && (c||d)",
        "1 < 2 > 0",
        "Vec<String> & <name>",
        "one\ntwo\n\nthree",
        "[1] and [x] (y)",
        "[Ana]: hello\n[Bo]: hi\n\n[Ana]: more",
        "-5 degrees\n+1",
        "C:\\dir $x$ 50% ^1",
        "#",
        "**",
        "```",
        "שלום 👨‍👩‍👧 e\u{301}",
    ] {
        check_unchanged(text);
    }
}

#[test]
fn nothing_visible_is_nothing() {
    for blank in ["", " \n\t", "\u{200B}", "\0\u{7}"] {
        check(blank, expect!["||"]);
    }
}

#[test]
fn emphasis_becomes_entities_in_utf16_units() {
    check(
        "😀 **bold _both_** *it* ~~gone~~ `co*de`",
        expect![[r#"
        |😀 bold both it gone co*de|
        Bold 3+9 "bold both"
        Italic 8+4 "both"
        Italic 13+2 "it"
        Strikethrough 16+4 "gone"
        Code 21+5 "co*de""#]],
    );
}

#[test]
fn nothing_lies_over_code() {
    check(
        "**see `x` now**",
        expect![[r#"
        |see x now|
        Bold 0+3 "see"
        Code 4+1 "x"
        Bold 6+3 "now""#]],
    );
    check(
        "[see `x`](https://a.example)",
        expect![[r#"
        |see x|
        Link https://a.example 0+5 "see x""#]],
    );
    check(
        "# `main`",
        expect![[r#"
        |main|
        Code 0+4 "main""#]],
    );
}

#[test]
fn emphasis_inside_its_like_is_one() {
    check(
        "**a __b__ c**",
        expect![[r#"
        |a b c|
        Bold 0+5 "a b c""#]],
    );
    check(
        "## Head **strong**",
        expect![[r#"
        |Head strong|
        Bold 0+11 "Head strong""#]],
    );
}

#[test]
fn links_and_images_lead_to_their_address() {
    check(
        "[words](https://a.example/x_y_z) ![alt](https://b.example)",
        expect![[r#"
        |words alt|
        Link https://a.example/x_y_z 0+5 "words"
        Link https://b.example 6+3 "alt""#]],
    );
    check(
        "[![alt](https://b.example)](https://a.example)",
        expect![[r#"
        |alt|
        Link https://a.example 0+3 "alt""#]],
    );
    check(
        "<https://a.example> [](https://b.example) ![](https://c.example) [x]()",
        expect!["|https://a.example https://b.example https://c.example x|"],
    );
    check(
        "[a][1]\n\n[1]: https://a.example",
        expect![[r#"
        |a|
        Link https://a.example 0+1 "a""#]],
    );
}

#[test]
fn headings_are_bold_lines() {
    check(
        "# Title\nText\n\n## Next\n\nMore",
        expect![[r#"
        |Title|
        |Text|
        ||
        |Next|
        ||
        |More|
        Bold 0+5 "Title"
        Bold 12+4 "Next""#]],
    );
}

#[test]
fn lists_are_text() {
    check(
        "Things:\n- one\n- two\n  continued\n  1. deep\n  2. deeper\n     * deepest\n- three\n\nAfter",
        expect![[r#"
        |Things:|
        |• one|
        |• two|
        |   continued|
        |   1. deep|
        |   2. deeper|
        |      • deepest|
        |• three|
        ||
        |After|"#]],
    );
    check(
        "7) a\n8) b\n\n   second paragraph\n\n9) c",
        expect![[r#"
        |7) a|
        |8) b|
        ||
        |   second paragraph|
        ||
        |9) c|"#]],
    );
    check(
        "-\n- a\n  ```\n    x\n  ```\n- > quote\n  > more",
        expect![[r#"
        |• |
        |• a|
        |  x|
        |• quote|
        |more|
        Pre - 7+3 "  x"
        Blockquote 13+10 "quote\nmore""#]],
    );
}

#[test]
fn a_long_quote_is_folded() {
    check(
        "> short\n> quote\n\nafter",
        expect![[r#"
        |short|
        |quote|
        ||
        |after|
        Blockquote 0+11 "short\nquote""#]],
    );
    check(
        "> a\n> b\n> c\n>\n> d\n> e\n> f\nlazy",
        expect![[r#"
        |a|
        |b|
        |c|
        ||
        |d|
        |e|
        |f|
        |lazy|
        ExpandableBlockquote 0+17 "a\nb\nc\n\nd\ne\nf\nlazy""#]],
    );
    check(
        "> outer\n> > inner\n>\n> - item\n>\n> - other",
        expect![[r#"
        |outer|
        |inner|
        ||
        |• item|
        ||
        |• other|
        Blockquote 0+28 "outer\ninner\n\n• item\n\n• other""#]],
    );
}

#[test]
fn code_blocks_keep_their_shape() {
    check(
        "Run:\n```rust,ignore\n\n    fn a() {}\n\n}\n\n```\ndone",
        expect![[r#"
        |Run:|
        |    fn a() {}|
        ||
        |}|
        |done|
        Pre rust 5+16 "    fn a() {}\n\n}""#]],
    );
    check("```\n```\nx", expect!["|x|"]);
    check(
        "text\n\n    indented\n\nend",
        expect![[r#"
        |text|
        ||
        |indented|
        ||
        |end|
        Pre - 6+8 "indented""#]],
    );
}

#[test]
fn tables_are_aligned_and_their_links_follow() {
    check(
        "| Who | Cost |\n|:--|--:|\n| **Ana** [1](https://t.me/c/1/2) | 5 |\n| 日本 `x` | 1000 [\\[2\\]](https://t.me/c/1/3) |\n\nafter",
        expect![[r#"
            |Who    |     Cost|
            |-------+---------|
            |Ana 1  |        5|
            |日本 x | 1000 [2]|
            |1|
            ||
            |after|
            Pre - 0+69 "Who    |     Cost\n-------+---------\nAna 1  |        5\n日本 x | 1000 [2]"
            Link https://t.me/c/1/2 70+1 "1""#]],
    );
}

#[test]
fn a_rule_is_a_line() {
    check(
        "a\n\n---\n\nb",
        expect![[r#"
        |a|
        ||
        |──────────|
        ||
        |b|"#]],
    );
}

#[test]
fn other_html_is_shown_as_it_is() {
    check("<a name=x> &lt;i&gt; &amp;", expect!["|<a name=x> <i> &|"]);
    check(
        "<form>\n<nav>x</nav>\n</form>\n\n*y*",
        expect![[r#"
        |<form>|
        |<nav>x</nav>|
        |</form>|
        ||
        |y|
        Italic 29+1 "y""#]],
    );
}

#[test]
fn bars_hide_text() {
    check(
        "it was ||the *butler* 😀|| **||x||**",
        expect![[r#"
        |it was the butler 😀 x|
        Spoiler 7+13 "the butler 😀"
        Italic 11+6 "butler"
        Spoiler 21+1 "x"
        Bold 21+1 "x""#]],
    );
    check(
        "||open\n\nnever|| ||`code`||",
        expect![[r#"
        |||open|
        ||
        |never|| ||code|||
        Code 18+4 "code""#]],
    );
}

#[test]
fn characters_that_telegram_removes_are_gone() {
    check(
        "a\0b\u{202E}c&#1;d&#x202E;e\r\nf",
        expect![[r#"
        |abcde|
        |f|"#]],
    );
}

#[test]
fn the_first_hundred_entities_are_kept() {
    let formatted = to_entities(&"*a* **b** ".repeat(80));
    assert_eq!(formatted.entities.len(), 100);
    assert_eq!(formatted.entities[99].offset, 99 * 2);
}

/// Shows the rendering on one line: `⏎` is a line break, entities follow as `Kind(text)`.
fn shown(markdown: &str) -> String {
    let formatted = to_entities(markdown);
    let mut shown = formatted.text.replace('\n', "⏎");
    for entity in &formatted.entities {
        let kind = format!("{:?}", entity.kind);
        let name = kind.split([' ', '{']).next().unwrap_or_default();
        let words = utf16_slice(&formatted.text, entity.offset, entity.length).replace('\n', "⏎");
        shown.push_str(&format!(" {name}({words})"));
    }
    shown
}

#[track_caller]
fn check_all(cases: &[(&str, &str)]) {
    for (markdown, expected) in cases {
        assert_eq!(shown(markdown), *expected, "{markdown}");
    }
}

#[test]
fn fences_are_read_by_their_length_and_place() {
    check_all(&[
        ("````\n```\n[a]: b\n```\n````\n[a]: c", "```⏎[a]: b⏎```⏎[a]: c Pre(```⏎[a]: b⏎```)"),
        ("~~~\n```\n[a]: b\n~~~\nc", "```⏎[a]: b⏎c Pre(```⏎[a]: b)"),
        ("```like``` this\n\n[Ana]: hello", "like this⏎⏎[Ana]: hello Code(like)"),
        ("1. Run\n   ```sh\nls\n  -l\n```\n2. Next", "1. Run⏎ls⏎  -l⏎2. Next Pre(ls⏎  -l)"),
        ("- a\n  ```\n    x\n\n  y\n  ```\n- b", "• a⏎  x⏎⏎y⏎• b Pre(  x⏎⏎y)"),
        ("Text:\n    ```sh\n    if x:\n      y\n    ```\nend", "Text:⏎if x:⏎  y⏎end Pre(if x:⏎  y)"),
        ("```\n    ```\n```\nc", "    ```⏎c Pre(    ```)"),
        ("- ```\nx\n```\nc", "• x⏎c Pre(x)"),
    ]);
}

#[test]
fn emphasis_is_read_beside_east_asian_punctuation() {
    check_all(&[
        ("**注意：**明天", "注意：明天 Bold(注意：)"),
        ("明天**「注意」**は休み", "明天「注意」は休み Bold(「注意」)"),
        ("**a。**b", "**a。**b"),
        ("*「あ」*と**い！**う", "「あ」とい！う Italic(「あ」) Bold(い！)"),
        ("**\"강조\"**는", "\"강조\"는 Bold(\"강조\")"),
        ("**Важно:**завтра", "Важно:завтра Bold(Важно:)"),
        ("**一** 二**三**四 * 五", "一 二三四 * 五 Bold(一) Bold(三)"),
        ("2 * 3（注）*x", "2 * 3（注）*x"),
    ]);
}

#[test]
fn html_of_formatting_is_formatting_or_nothing() {
    check_all(&[
        ("a <b>b <i>c</i></b> <u>d</u>", "a b c d Bold(b c) Italic(c) Underline(d)"),
        ("<b>see <code>x</code> now</b>", "see x now Bold(see) Code(x) Bold(now)"),
        ("<strong>Title</strong>\ntext<br>more<br/>end", "Title⏎text⏎more⏎end Bold(Title)"),
        ("x<sup>2</sup> H<sub>2</sub>O 1<sup>st one</sup>", "x² H₂O 1st one"),
        ("<b>open\n\nnext</b> <i>**x</i>**", "open⏎⏎next x Bold(x)"),
        ("<b>\n**x**\n</b>", "x Bold(x)"),
        ("**a <b>b</b>** <b>**c**</b>", "a b c Bold(a b) Bold(c)"),
        ("`<b>x</b>` Vec<String>", "<b>x</b> Vec<String> Code(<b>x</b>)"),
        ("<b>||x||</b>", "x Spoiler(x)"),
        ("*a <b>b* [c</b> d](https://a.example)", "a b c d Italic(a b) TextLink(c d)"),
        ("*a ||b* [c|| d](https://a.example)", "a ||b c|| d Italic(a ||b) TextLink(c|| d)"),
        (
            "<details>\n<summary>More</summary>\n\nIt is *this*.\n\n</details>\nend",
            "More⏎⏎It is this.⏎⏎end Bold(More) Italic(this)",
        ),
        ("<details><summary>More</summary>It is.</details>", "More⏎It is. Bold(More)"),
        ("<details open>\n<summary class=\"x\">More</summary>\n\nIt is.\n\n</details>", "More⏎⏎It is. Bold(More)"),
        (
            "The <summary> element goes into <details> elements, and </details> ends them.",
            "The <summary> element goes into <details> elements, and </details> ends them.",
        ),
        ("see <a href=\"https://a.example/x_y_z\">the *page*</a>", "see the page TextLink(the page) Italic(page)"),
        ("<a class='x' href='https://a.example/x' target=_blank>x</a>", "x TextLink(x)"),
    ]);
}

#[test]
fn cells_break_and_columns_count_what_is_wide() {
    check(
        "| a | b |\n|---|--:|\n| ✅ yes | x<br>yy |\n| ⚠️ | <b>1</b> |\n| 🇩🇪 日本 | 👨‍👩‍👧 |",
        expect![[r#"
        |a       |  b|
        |--------+---|
        |✅ yes  |  x|
        |        | yy|
        |⚠️      |  1|
        |🇩🇪 日本 | 👨‍👩‍👧|
        Pre - 0+82 "a       |  b\n--------+---\n✅ yes  |  x\n        | yy\n⚠\u{fe0f}      |  1\n🇩🇪 日本 | 👨\u{200d}👩\u{200d}👧""#]],
    );
}

#[test]
fn latex_becomes_signs_and_money_stays() {
    check_all(&[
        ("So \\(x^2\\) and $\\alpha \\le \\beta$.", "So x² and α ≤ β."),
        ("**\\(a*b\\)**: $a_1*b_1$", "a*b: a₁*b₁ Bold(a*b)"),
        ("\\[\n\\frac{a}{b} = c\n\\]", "a/b = c"),
        ("$5 and $10, `$x^2$`", "$5 and $10, $x^2$ Code($x^2$)"),
        ("- \\(\\boxed{42}\\)\n- A \\rightarrow B", "• 42⏎• A → B"),
        ("| x |\n|---|\n| $x^2$ |", "x⏎--⏎x² Pre(x⏎--⏎x²)"),
    ]);
}

#[test]
fn a_blank_before_closing_marks_belongs_behind_them() {
    check_all(&[
        ("**Note: **text", "Note: text Bold(Note:)"),
        ("* **Name: ** Ana\n* **City: **Tartu", "• Name:  Ana⏎• City: Tartu Bold(Name:) Bold(City:)"),
        ("**注意： **明天", "注意： 明天 Bold(注意：)"),
        ("x **kwargs and **args", "x **kwargs and **args"),
        ("**a: b** c", "a: b c Bold(a: b)"),
        ("- **Note:**text\n- **Who?**Ana", "• Note:text⏎• Who?Ana Bold(Note:) Bold(Who?)"),
    ]);
}

#[test]
fn a_rule_below_a_paragraph_makes_no_heading() {
    check_all(&[
        ("A paragraph.\n---\nb", "A paragraph.⏎⏎──────────⏎b"),
        ("- a\n---\nb", "• a⏎⏎──────────⏎b"),
        ("```\na\n---\nb\n```", "a⏎---⏎b Pre(a⏎---⏎b)"),
        ("a | b\n---|---\n1 | 2", "a | b⏎--+--⏎1 | 2 Pre(a | b⏎--+--⏎1 | 2)"),
    ]);
}

#[test]
fn items_nest_however_wide_the_bullet_above_is() {
    check_all(&[
        ("1. a\n  - b\n    - c\n  - d\n2. e", "1. a⏎   • b⏎      • c⏎   • d⏎2. e"),
        ("1. a\n  1. b\n  2. c\n2. d", "1. a⏎   1. b⏎   2. c⏎2. d"),
        ("10. a\n   - b\n     more\n11. c", "10. a⏎   • b⏎      more⏎11. c"),
        ("- a\n - b\n- c", "• a⏎• b⏎• c"),
        ("1. a\n  - b:\n    ```\n    x\n    ```\n\nend", "1. a⏎   • b:⏎x⏎⏎end Pre(x)"),
        ("1. a\n\n```\n  - x\n```", "1. a⏎⏎  - x Pre(  - x)"),
    ]);
}

#[test]
fn fences_in_a_line_of_text_and_in_other_code_are_read() {
    check_all(&[
        ("Here:```js\nx\n```\n**end**", "Here:⏎x⏎end Pre(x) Bold(end)"),
        ("Begin with ```\n```\nx\n```\nend", "Begin with ```⏎x⏎end Pre(x)"),
        (
            "```markdown\n# T\n```sh\nls\n```\nmore\n```\n**end**",
            "# T⏎```sh⏎ls⏎```⏎more⏎end Pre(# T⏎```sh⏎ls⏎```⏎more) Bold(end)",
        ),
        ("```sh\na\n\ntext\n```sh\nb\n```\nend", "a⏎⏎text⏎```sh⏎b⏎end Pre(a⏎⏎text⏎```sh⏎b)"),
    ]);
}

#[test]
fn text_directly_below_a_table_is_no_row_of_it() {
    check_all(&[
        ("| a | b |\n|---|---|\n| 1 | 2 |\nSee **x**.", "a | b⏎--+--⏎1 | 2⏎⏎See x. Pre(a | b⏎--+--⏎1 | 2) Bold(x)"),
        ("a | b\n---|---\n1 | 2\nafter", "a | b⏎--+--⏎1 | 2⏎⏎after Pre(a | b⏎--+--⏎1 | 2)"),
        ("| a |\n|---|\n| 1 |\n| 2 |", "a⏎-⏎1⏎2 Pre(a⏎-⏎1⏎2)"),
        ("| a | b |\n|---|---|\n1 | 2", "a | b⏎--+--⏎1 | 2 Pre(a | b⏎--+--⏎1 | 2)"),
        ("a | - b\nc", "a | - b⏎c"),
    ]);
}

#[test]
fn broken_tables_are_repaired() {
    check_all(&[
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |", "a | b⏎--+--⏎1 | 2⏎3 | 4 Pre(a | b⏎--+--⏎1 | 2⏎3 | 4)"),
        ("| a | b |\n\n|---|---|\n\n| 1 | 2 |\n\nend", "a | b⏎--+--⏎1 | 2⏎⏎end Pre(a | b⏎--+--⏎1 | 2)"),
        ("| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |", "a⏎-⏎1⏎⏎b⏎-⏎2 Pre(a⏎-⏎1) Pre(b⏎-⏎2)"),
        ("| a | b | c |\n|---|---|\n| 1 | 2 | 3 |", "a | b | c⏎--+---+--⏎1 | 2 | 3 Pre(a | b | c⏎--+---+--⏎1 | 2 | 3)"),
        ("| a | b |\n|---|---|\n| `x|y` | 1 |", "a   | b⏎----+--⏎x|y | 1 Pre(a   | b⏎----+--⏎x|y | 1)"),
        ("| a | b |\n|---|---|\n| ``x|y`` | 1 |", "a   | b⏎----+--⏎x|y | 1 Pre(a   | b⏎----+--⏎x|y | 1)"),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |\n|---|---|\n| - | 4 |",
            "a | b⏎--+--⏎1 | 2⏎- | 4 Pre(a | b⏎--+--⏎1 | 2⏎- | 4)",
        ),
        (
            "> | a | b |\n> |---|---|\n> | 1 | 2 |",
            "a | b⏎--+--⏎1 | 2 Pre(a | b⏎--+--⏎1 | 2) Blockquote(a | b⏎--+--⏎1 | 2)",
        ),
        ("```\n| a |\n|---|\n\n| 1 |\n```", "| a |⏎|---|⏎⏎| 1 | Pre(| a |⏎|---|⏎⏎| 1 |)"),
    ]);
}

#[test]
fn numbered_items_keep_their_numbers() {
    check_all(&[
        ("3. c\n2. b\n1. a", "3. c⏎2. b⏎1. a"),
        ("1. a\n3. c", "1. a⏎3. c"),
        ("1. a\n1. b\n1. c", "1. a⏎2. b⏎3. c"),
        ("1. a\n2. b\n2. c\n3. d", "1. a⏎2. b⏎2. c⏎3. d"),
    ]);
}

#[test]
fn tasks_have_boxes() {
    check_all(&[
        ("- [ ] open\n- [x] **done**\n  * [X] deep", "☐ open⏎☑ done⏎   ☑ deep Bold(done)"),
        ("- [ ] open\n\n- [x] `done`", "☐ open⏎⏎☑ done Code(done)"),
        ("1. [ ] open\n2. [x](https://a.example)", "1. ☐ open⏎2. x TextLink(x)"),
    ]);
}

#[test]
fn footnotes_are_raised_numbers() {
    check_all(&[
        ("Yes[^1] and `[^1]`.\n\n[^1]: Says *Ana*.", "Yes¹ and [^1].⏎⏎¹ Says Ana. Code([^1]) Italic(Ana)"),
        ("Yes[^12].\n\n[^12]: https://a.example/x", "Yes¹².⏎⏎¹² https://a.example/x"),
    ]);
}

#[test]
fn items_below_bullets_that_are_not_markdown_keep_their_indentation() {
    check_all(&[
        ("Plan:\n• a\n  ◦ b\n\t▪ c\n• d", "Plan:⏎• a⏎\u{a0}\u{a0}◦ b⏎\u{a0}\u{a0}\u{a0}\u{a0}▪ c⏎• d"),
        ("a\n  ◦ b", "a⏎◦ b"),
        ("Plan:\n  • a\n  • b\n    ◦ c", "Plan:⏎• a⏎• b⏎\u{a0}\u{a0}◦ c"),
    ]);
}

#[test]
fn html_that_lays_out_a_page_is_layout() {
    check_all(&[
        ("<div>\n<p>x</p>\n</div>\n\n*y*", "x⏎⏎y Italic(y)"),
        ("<p>Hello <b>there</b></p><p>**x**</p>", "Hello there⏎x Bold(there) Bold(x)"),
        (
            "<h3>Plan</h3>\n<ul>\n    <li>a `x`</li>\n    <li>`y` b</li>\n</ul>\nEnd",
            "Plan⏎⏎• a x⏎• y b⏎⏎End Bold(Plan) Code(x) Code(y)",
        ),
        ("Steps:<ol><li>a</li><li>b</li></ol>End", "Steps:⏎1. a⏎2. b⏎⏎End"),
        ("a <span style=\"color:red\">b</span>, <font color=red>c</font> d", "a b, c d"),
        ("<center>**x**</center>", "x Bold(x)"),
        ("| a |\n|---|\n| <ul><li>x</li><li>y</li></ul> |", "a⏎---⏎• x⏎• y Pre(a⏎---⏎• x⏎• y)"),
        ("The <p> tag, <span> and </span>, (<li>) or <div>.", "The <p> tag, <span> and </span>, (<li>) or <div>."),
        ("Tags:\n<p>\n<div>\n- <li>", "Tags:⏎<p>⏎<div>⏎• <li>"),
        ("- <p>x</p>\n- <p>y</p>", "• x⏎• y"),
        ("使用<p>标签", "使用<p>标签"),
        ("if a<p && b>c, List<p>x", "if a<p && b>c, List<p>x"),
        (
            "`<p>x</p>`\n```\n<ul><li>x</li></ul>\n```",
            "<p>x</p>⏎<ul><li>x</li></ul> Code(<p>x</p>) Pre(<ul><li>x</li></ul>)",
        ),
    ]);
}

#[test]
fn code_in_html_is_code() {
    check_all(&[
        ("So:\n<pre>def f():\n    return 1</pre>\nend", "So:⏎def f():⏎    return 1⏎end Pre(def f():⏎    return 1)"),
        ("<pre><code class=\"language-html\">\n&lt;b&gt;\n\n  x\n</code></pre>", "<b>⏎⏎  x Pre(<b>⏎⏎  x)"),
        ("```\n<pre>x</pre>\n```", "<pre>x</pre> Pre(<pre>x</pre>)"),
        ("The <pre> tag", "The <pre> tag"),
    ]);
}

#[test]
fn marks_in_addresses_are_text() {
    for text in [
        "https://youtu.be/_a1b2c3d4e_ and https://docs.google.com/document/d/1-_aBc-YzAb_-cD/edit",
        "https://a.example/watch?v=_Hx3kQ9-_Zs and https://a.example/watch?v=dQw4w9WgXc_",
        "https://de.wikipedia.org/wiki/Liste_(A)_bis_(Z) https://a.example/?_x=1&y_=2",
        "https://ru.wikipedia.org/wiki/Заглавная_страница/_a_ https://a.example/__Foo__/",
        "https://a.example/x~~y~~z www.a.example/*x*",
    ] {
        check_unchanged(text);
    }
    check_all(&[
        (
            "https://a.example/x *y* **https://a.example**",
            "https://a.example/x y https://a.example Italic(y) Bold(https://a.example)",
        ),
        ("[a](https://a.example)**b**", "ab TextLink(a) Bold(b)"),
        ("见https://a.example，**注意**", "见https://a.example，注意 Bold(注意)"),
    ]);
}

#[test]
fn marks_of_words_stay_in_cells() {
    check_all(&[
        (
            "| a |\n|---|\n| 2*3*4 |\n| __init__.py |",
            "a⏎-----------⏎2*3*4⏎__init__.py Pre(a⏎-----------⏎2*3*4⏎__init__.py)",
        ),
        (
            "| a |\n|---|\n| https://a.example/_x_ |",
            "a⏎---------------------⏎https://a.example/_x_ Pre(a⏎---------------------⏎https://a.example/_x_)",
        ),
        (
            "| a |\n|---|\n| 5~10 and 20~30 |\n| ~~x~~ **y** |",
            "a⏎--------------⏎5~10 and 20~30⏎x y Pre(a⏎--------------⏎5~10 and 20~30⏎x y)",
        ),
    ]);
}

#[test]
fn blanks_inside_bold_text_are_outside_and_a_mark_without_a_partner_goes() {
    check_all(&[
        ("It is ** Friday at seven** for nine.", "It is Friday at seven for nine. Bold(Friday at seven)"),
        ("on **Friday at seven **for nine", "on Friday at seven for nine Bold(Friday at seven)"),
        ("**Friday **and **Saturday** are free", "Friday and Saturday are free Bold(Friday) Bold(Saturday)"),
        ("**Friday at seven for nine.\n\nSo **they** say.", "Friday at seven for nine.⏎⏎So they say. Bold(they)"),
        ("- **Freitag um sieben\n- für neun", "• Freitag um sieben⏎• für neun"),
        ("**A with **nested** text**", "A with nested text Bold(A with nested text)"),
        ("**Friday\nat seven**", "Friday⏎at seven Bold(Friday⏎at seven)"),
        ("a ** b, c ** d and 2 **3", "a ** b, c ** d and 2 **3"),
        ("x ** 2 + y**2", "x ** 2 + y**2"),
        ("Use ** to match, as in src/**.", "Use ** to match, as in src/**."),
        ("call it with **kwargs, as `f(**A)` does", "call it with **kwargs, as f(**A) does Code(f(**A))"),
    ]);
}

#[test]
fn text_directly_below_a_list_is_no_part_of_its_last_item() {
    check_all(&[
        ("Text:\n- a\n- b\nText after", "Text:⏎• a⏎• b⏎⏎Text after"),
        ("1. a\n2. b\n**Note:** x", "1. a⏎2. b⏎⏎Note: x Bold(Note:)"),
        ("- a\n- b\ngoes on", "• a⏎• b⏎   goes on"),
        ("1. a\nAbout a\n2. b\nAbout b", "1. a⏎   About a⏎2. b⏎   About b"),
    ]);
}

#[test]
fn a_heading_directly_below_a_list_begins_the_next_section() {
    check_all(&[
        (
            "**Fri**\n1. Train\n2. Dinner\n**Sat**\n1. Market\n2. Tour",
            "Fri⏎1. Train⏎2. Dinner⏎⏎Sat⏎1. Market⏎2. Tour Bold(Fri) Bold(Sat)",
        ),
        (
            "**Fri**\n1. Drive\n**Sat**\n2. Market\n   - honey\n3. Tour\n**Sun:**\n4. Beach",
            "Fri⏎1. Drive⏎⏎Sat⏎2. Market⏎   • honey⏎3. Tour⏎⏎Sun:⏎4. Beach Bold(Fri) Bold(Sat) Bold(Sun:)",
        ),
        ("🗓 **Fri**\n- a\n  c\n🗓 **Sat**\n- b", "🗓 Fri⏎• a⏎   c⏎⏎🗓 Sat⏎• b Bold(Fri) Bold(Sat)"),
        ("- a\n- b\n**Sat**\n- c\n\n**Sun**\n- d", "• a⏎• b⏎⏎Sat⏎• c⏎⏎Sun⏎• d Bold(Sat) Bold(Sun)"),
        ("Flour:\n- a\nthen:\n- b", "Flour:⏎• a⏎⏎then:⏎• b"),
        ("1. Zaap\n**Thai**\n2. Umi\n**Sushi**", "1. Zaap⏎   Thai⏎2. Umi⏎   Sushi Bold(Thai) Bold(Sushi)"),
        ("Try:\n1. Zaap\n**Thai**\n2. Umi\n**Sushi**", "Try:⏎1. Zaap⏎   Thai⏎2. Umi⏎   Sushi Bold(Thai) Bold(Sushi)"),
        ("1. Cake\n**Needs:**\n- eggs\n2. Pie", "1. Cake⏎   Needs:⏎• eggs⏎2. Pie Bold(Needs:)"),
        ("- a\n- b: **c**:\n- d", "• a⏎• b: c:⏎• d Bold(c)"),
    ]);
}
