//! Documents of each format, several languages and encodings, and documents that are wrong.

#![expect(clippy::expect_used, reason = "a document that cannot be written fails its test")]

mod made;

use chime_documents::{Document, DocumentError, MAX_BYTES, ReadRequest, read};
use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, WINDOWS_1251, WINDOWS_1252};

use made::{PAGE, docx, encrypted_pdf, odt, paragraph, pdf, pdf_of, stream, word, zip};

/// A document, and passages with the pages on which they are.
struct Readable {
    name: &'static str,
    bytes: Vec<u8>,
    passages: &'static [(Option<u32>, &'static str)],
}

#[test]
fn texts_are_read_with_their_pages() {
    for Readable { name, bytes, passages } in documents().into_iter().chain(texts()) {
        let document = read_named(&bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (page, passage) in passages {
            let is_there = document.pieces.iter().any(|piece| piece.page == *page && piece.text.contains(passage));
            assert!(is_there, "{name}: no {passage:?} on page {page:?} of {document:#?}");
        }
    }
}

fn documents() -> Vec<Readable> {
    let minutes =
        ["Minutes of the garden club\nPresent: Ana, Bo", "The shed will be painted on 4 May.\nCosts: 240 EUR"];
    let table = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Hut</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>7731</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    let notes = "<w:footnotes><w:footnote><w:p><w:r><w:t>Según el reglamento de 2019.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let spanish = paragraph("El alquiler es de 650 € al mes.");
    vec![
        Readable {
            name: "minutes.pdf",
            bytes: pdf("Minutes", &minutes),
            passages: &[
                (Some(1), "Present: Ana, Bo"),
                (Some(2), "The shed will be painted on 4 May."),
                (Some(2), "240 EUR"),
            ],
        },
        Readable {
            name: "договор.pdf",
            bytes: pdf("Договор", &["Договор аренды", "Срок аренды", "Оплата до пятого числа каждого месяца."]),
            passages: &[(Some(1), "Договор аренды"), (Some(3), "до пятого числа")],
        },
        Readable {
            name: "旅程.pdf",
            bytes: pdf("旅程", &["集合は午前九時、東京駅です。"]),
            passages: &[(Some(1), "午前九時")],
        },
        Readable {
            // The name and the type are those of a text.
            name: "really-a-pdf.txt",
            bytes: pdf("Report", &["Der Verein hat 48 Mitglieder."]),
            passages: &[(Some(1), "48 Mitglieder")],
        },
        Readable {
            name: "plain-font.pdf",
            bytes: helvetica("(Caf\\351 opens at 8 \\(not 9\\)) Tj"),
            passages: &[(Some(1), "Café opens at 8 (not 9)")],
        },
        Readable {
            name: "ligatures.pdf",
            bytes: pdf("Ligatures", &["The o\u{FB03}ce is \u{FB01}nal. Donau\u{AD}schiff"]),
            passages: &[(Some(1), "The office is final. Donauschiff")],
        },
        Readable {
            name: "standard-encoding.pdf",
            bytes: pdf_of(&PAGE.map(|object| object.replace("WinAnsi", "Standard")), ""),
            passages: &[(Some(1), "Only for you")],
        },
        Readable {
            name: "scanned-pages.pdf",
            bytes: pdf("Scan", &["", "Text", ""]),
            passages: &[(Some(1), ""), (Some(2), "Text"), (Some(3), "")],
        },
        Readable { name: "forbids-printing.pdf", bytes: encrypted_pdf(""), passages: &[(Some(1), "Only for you")] },
        Readable {
            name: "huts.docx",
            bytes: docx(&format!("{}{table}{}", paragraph("Codes &amp; keys:"), paragraph("Bring a lamp."))),
            passages: &[(None, "Codes & keys:"), (None, "Hut | 7731"), (None, "Bring a lamp.")],
        },
        Readable {
            name: "протокол.docx",
            bytes: docx(&format!(
                "{}<w:p><w:del><w:r><w:delText>500</w:delText></w:r></w:del></w:p>",
                paragraph("Збори о 18:30 у школі.")
            )),
            passages: &[(None, "Збори о 18:30")],
        },
        Readable {
            name: "contrato.docx",
            bytes: zip(&[("word/document.xml", &word(&spanish)), ("word/footnotes.xml", notes)]),
            passages: &[(None, "650 € al mes"), (None, "reglamento de 2019")],
        },
        Readable {
            name: "word-online.docx",
            bytes: zip(&[
                (
                    "word/document2.xml",
                    &word(&format!(
                        "{}<w:p><w:moveFrom><w:r><w:t>Forty</w:t></w:r></w:moveFrom><w:r><w:t>Euros</w:t></w:r></w:p>",
                        paragraph("Dues")
                    )),
                ),
                ("word/endnotes.xml", &word(&paragraph("A year."))),
                ("word/header1.xml", &word(&paragraph("Boat club"))),
                ("word/header2.xml", &word(&paragraph("Boat club"))),
            ]),
            passages: &[(None, "Dues\n\nEuros"), (None, "A year."), (None, "Boat club")],
        },
        Readable {
            name: "footnote.odt",
            bytes: odt(
                "<text:p>The dues are 40<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Children: half.</text:p></text:note-body></text:note> euros<office:annotation><text:p>Seen</text:p></office:annotation> a year.</text:p>",
                "",
            ),
            passages: &[(None, "The dues are 40 euros a year."), (None, "Children: half.")],
        },
        Readable {
            name: "bail.odt",
            bytes: odt(
                "<text:h>Bail</text:h><text:p>Le loyer est de<text:s/>900 €<text:line-break/>charges comprises.</text:p>",
                "",
            ),
            passages: &[(None, "Le loyer est de 900 €\ncharges comprises.")],
        },
        Readable {
            name: "دعوة.odt",
            bytes: odt("<text:p>الاجتماع يوم الخميس الساعة السابعة.</text:p>", ""),
            passages: &[(None, "يوم الخميس")],
        },
    ]
}

fn texts() -> Vec<Readable> {
    let text = |name, encoding: &'static Encoding, text: &str, passages| Readable {
        name,
        bytes: encoding.encode(text).0.into_owned(),
        passages,
    };
    let utf16 = "Toplantı saat 19:00'da.".encode_utf16().flat_map(u16::to_le_bytes);
    let japanese = "集合場所は新宿駅の南口です。時間は午前十時です。雨の場合は中止になります。";
    let russian = "Собрание жильцов состоится в четверг в семь часов вечера. Просьба принести счётчики.";
    let german = "Die Küche schließt um 22 Uhr. Für Gäste gibt es Frühstück ab 7 Uhr.";
    vec![
        text("notes.txt", UTF_8, "Buluşma: Kadıköy iskelesi, saat 10.", &[(None, "Kadıköy iskelesi")]),
        text("дом.txt", WINDOWS_1251, russian, &[(None, "в четверг в семь часов")]),
        text("案内.txt", SHIFT_JIS, japanese, &[(None, "新宿駅の南口")]),
        text("haus.txt", WINDOWS_1252, german, &[(None, "Die Küche schließt um 22 Uhr")]),
        Readable {
            name: "toplantı.txt",
            bytes: [0xFF, 0xFE].into_iter().chain(utf16).collect(),
            passages: &[(None, "Toplantı saat 19:00")],
        },
        text(
            "README.md",
            UTF_8,
            "# Sauna\r\n\r\n- heat to 80 °C\r\n- towels\r\n",
            &[(None, "- heat to 80 °C\n- towels")],
        ),
        text(
            "costs.csv",
            UTF_8,
            "who,what,EUR\nAna,boat,\"1,200\"\nBo,food,80\n",
            &[(None, "who: Ana; what: boat; EUR: 1,200")],
        ),
        text(
            "kosten.csv",
            WINDOWS_1252,
            "Name;Betrag\nJürgen;12,50\nMüller;8,00\n",
            &[(None, "Name: Jürgen; Betrag: 12,50")],
        ),
        text(
            "liste.csv",
            UTF_8,
            "Vereinskasse\n\n\"Stück\nVorrat\";Preis, netto;Summe, brutto\nSeil;1,50;2,00\n",
            &[(
                None,
                "Vereinskasse\nStück Vorrat; Preis, netto; Summe, brutto\nStück Vorrat: Seil; Preis, netto: 1,50",
            )],
        ),
        text("no-header.csv", UTF_8, "Ana,555-1234\nBo,555-9999\n", &[(None, "Ana; 555-1234\n")]),
        text("excel.csv", UTF_8, "sep=;\r\nName;a,b\r\nAna;1,2\r\n", &[(None, "Name: Ana; a,b: 1,2")]),
        text("list.tsv", UTF_8, "item, all\tcount\ntent\t3\n", &[(None, "item, all: tent; count: 3")]),
        text("slides.txt", UTF_8, "A page\u{B}begins with %PDF-1.7\u{1A}", &[(None, "begins with %PDF-1.7")]),
        text("config.json", UTF_8, r#"{"door":{"code":7731,"open":"08:00"}}"#, &[(None, "\"code\": 7731")]),
        text("main.rs", UTF_8, "fn main() {\n    println!(\"hi\");\n}\n", &[(None, "    println!(\"hi\");")]),
        text(
            "talk.srt",
            UTF_8,
            "1\r\n00:00:01,500 --> 00:00:03,000\r\n<i>We meet</i>\r\nat nine.\r\n\r\n2\r\n00:01:00,000 --> 00:01:02,000\r\nBring bread.\r\n",
            &[(None, "[00:00:01] We meet at nine."), (None, "[00:01:00] Bring bread.")],
        ),
        text(
            "clip.vtt",
            UTF_8,
            "WEBVTT\n\nNOTE made by hand\n\n00:05.000 --> 00:07.000 align:start\n<v Ana>Dank je wel!</v>\n",
            &[(None, "[00:05] Dank je wel!")],
        ),
    ]
}

/// Writes a PDF whose only page shows text in a standard font.
fn helvetica(operators: &str) -> Vec<u8> {
    let content = stream("", &format!("BT /F1 12 Tf 50 800 Td {operators} ET"));
    pdf_of(&[PAGE[0], PAGE[1], PAGE[2], &content].map(str::to_owned), "")
}

#[test]
fn what_cannot_be_read_has_a_reason() {
    let whole_pdf = pdf("Minutes", &["The shed will be painted."]);
    let whole_docx = docx(&paragraph("The shed will be painted."));
    let deep = format!("{}{}", "<w:p>".repeat(100_000), "</w:p>".repeat(100_000));
    let entities = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><w:document><w:t>&b;</w:t></w:document>";
    let mut claims_much = zip(&[("word/document.xml", &word(&paragraph("small")))]);
    set_claimed_size(&mut claims_much, 1_000_000_000);
    let compound: Vec<u8> =
        [b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec(), vec![0; 1_000], utf16("EncryptedPackage")].concat();
    let cases: Vec<(&str, Vec<u8>, DocumentError)> = vec![
        ("scan.pdf", helvetica(""), DocumentError::NoText),
        ("empty.txt", Vec::new(), DocumentError::NoText),
        ("sheet.xlsx", zip(&[("xl/workbook.xml", "<workbook/>")]), DocumentError::Unsupported),
        ("picture.pdf", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR".to_vec(), DocumentError::Unsupported),
        ("old.doc", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 Word".to_vec(), DocumentError::Unsupported),
        ("secret.pdf", encrypted_pdf("7731"), DocumentError::Encrypted),
        ("secret.docx", compound, DocumentError::Encrypted),
        ("secret.odt", odt("", "<manifest:encryption-data/>"), DocumentError::Encrypted),
        ("bomb.docx", docx(&" ".repeat(60_000_000)), DocumentError::TooLarge),
        ("claims-1-gb.docx", claims_much, DocumentError::TooLarge),
        ("deep.docx", docx(&deep), DocumentError::Damaged),
        ("entities.docx", zip(&[("word/document.xml", entities)]), DocumentError::Damaged),
        ("half.docx", whole_docx[..whole_docx.len() / 2].to_vec(), DocumentError::Damaged),
        ("half.pdf", whole_pdf[..whole_pdf.len() / 4].to_vec(), DocumentError::Damaged),
        ("half-xml.docx", zip(&[("word/document.xml", "<w:document><w:p>")]), DocumentError::Damaged),
        ("large.txt", vec![b'a'; MAX_BYTES + 1], DocumentError::TooLarge),
    ];
    for (name, bytes, expected) in cases {
        let result = read_named(&bytes, name).map(|document| document.pieces);
        assert_eq!(result, Err(expected), "{name}");
    }
}

#[test]
fn a_title_comes_from_the_metadata_or_the_name() {
    let title = |bytes: &[u8], name| read_named(bytes, name).map(|document| document.title);
    assert_eq!(title(&pdf("Протокол", &["text"]), "a.pdf"), Ok("Протокол".to_owned()));
    assert_eq!(title(&odt("<text:p>text</text:p>", ""), "a.odt"), Ok("Bail".to_owned()));
    assert_eq!(title(b"text", "a.txt"), Ok("a.txt".to_owned()));
    for written in ["untitled", "(anonymous)", "Microsoft Word - Rules", "Rules.DOC"] {
        assert_eq!(title(&pdf(written, &["text"]), "a.pdf"), Ok("a.pdf".to_owned()), "{written}");
    }
}

#[test]
fn a_long_text_is_cut_into_pieces() {
    let sentence = "The quick brown fox jumps over the lazy dog.\n";
    let document = read_named(sentence.repeat(200).as_bytes(), "long.txt").expect("a text");
    let words = |text: &str| text.split_whitespace().count();
    assert!(document.pieces.iter().all(|piece| words(&piece.text) <= 250), "pieces of about 200 words");
    assert_eq!(document.pieces.iter().map(|piece| words(&piece.text)).sum::<usize>(), 200 * 9);
    assert!(document.pieces.iter().all(|piece| piece.text.ends_with("dog.")), "cut between lines");
    let book = read_named("很长的书".repeat(500_000).as_bytes(), "book.txt").expect("a text");
    assert!(book.is_cut && book.pieces.iter().all(|piece| piece.text.chars().count() <= 1_200));
}

fn read_named(bytes: &[u8], name: &str) -> Result<Document, DocumentError> {
    read(bytes, &ReadRequest { file_name: name.to_owned(), mime_type: None })
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Writes a false size after decompression into the headers of an archive with one file.
fn set_claimed_size(archive: &mut [u8], size: u32) {
    for (signature, offset) in [(b"PK\x03\x04", 22), (b"PK\x01\x02", 24)] {
        let at = archive.windows(4).position(|window| window == signature).expect("a header") + offset;
        archive[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }
}
