//! Documents that the tests write.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use pdf_extract::{EncryptionState, EncryptionVersion, Permissions};
use zip::write::{SimpleFileOptions, ZipWriter};

/// Writes a PDF with one page for each of `pages`, whose lines are separated by line breaks.
pub fn pdf(title: &str, pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 7 + 2 * page)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Count {}/Kids[{}]/MediaBox[0 0 595 842]>>", pages.len(), kids.join(" ")),
        format!("<</Title<FEFF{}>>>", hex(title)),
        // Codes are UTF-16, which the table for copying text shows as they are.
        "<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H/DescendantFonts[5 0 R]/ToUnicode 6 0 R>>".to_owned(),
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/Any/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>/DW 600>>".to_owned(),
        stream("", "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Any def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"),
    ];
    for (page, text) in pages.iter().enumerate() {
        let mut content = "BT /F1 12 Tf 14 TL 50 800 Td ".to_owned();
        for line in text.lines() {
            let _ = write!(content, "<{}> Tj T* ", hex(line));
        }
        content.push_str("ET");
        let contents = 8 + 2 * page;
        objects.push(format!("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 4 0 R>>>>/Contents {contents} 0 R>>"));
        objects.push(stream("", &content));
    }
    pdf_of(&objects, "/Info 3 0 R")
}

/// Writes a PDF of `objects`, the first of which is the catalog.
pub fn pdf_of(objects: &[String], trailer: &str) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = String::new();
    for (at, object) in objects.iter().enumerate() {
        let _ = writeln!(offsets, "{:010} 00000 n ", file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let (size, start) = (objects.len() + 1, file.len());
    let _ = write!(file, "xref\n0 {size}\n0000000000 65535 f \n{offsets}");
    let _ = write!(file, "trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

pub fn stream(dictionary: &str, content: &str) -> String {
    format!("<<{dictionary}/Length {}>>\nstream\n{content}\nendstream", content.len())
}

fn hex(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |hex, unit| format!("{hex}{unit:04X}"))
}

/// Writes a ZIP archive of files with their names.
pub fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("start a file");
        writer.write_all(content.as_bytes()).expect("write a file");
    }
    writer.finish().expect("end the archive").into_inner()
}

/// Writes a DOCX whose body is `body`.
pub fn docx(body: &str) -> Vec<u8> {
    zip(&[("[Content_Types].xml", "<Types/>"), ("word/document.xml", &word(body))])
}

pub fn word(body: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>")
}

/// Returns a paragraph of a DOCX.
pub fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// Writes an ODT whose text is `body`.
pub fn odt(body: &str, manifest: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:text=\"t\" xmlns:table=\"b\"><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let meta = "<office:document-meta xmlns:office=\"o\" xmlns:dc=\"d\"><office:meta><dc:title>Bail</dc:title></office:meta></office:document-meta>";
    let kind = "application/vnd.oasis.opendocument.text";
    zip(&[("mimetype", kind), ("META-INF/manifest.xml", manifest), ("content.xml", &content), ("meta.xml", meta)])
}

/// Objects of a PDF with one page.
pub const PAGE: [&str; 4] = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>>>/Contents 4 0 R>>",
    "<</Length 43>>\nstream\nBT /F1 12 Tf 50 800 Td (Only for you) Tj ET\nendstream",
];

/// Writes a PDF that opens with `password`.
pub fn encrypted_pdf(password: &str) -> Vec<u8> {
    let plain = pdf_of(&PAGE.map(str::to_owned), "/ID[<00><00>]");
    let mut file = pdf_extract::Document::load_mem(&plain).expect("a PDF");
    let version = EncryptionVersion::V2 {
        document: &file,
        owner_password: "owner",
        user_password: password,
        key_length: 128,
        permissions: Permissions::empty(),
    };
    let state = EncryptionState::try_from(version).expect("a key");
    file.encrypt(&state).expect("encrypt");
    let mut bytes = Vec::new();
    file.save_to(&mut bytes).expect("write");
    bytes
}
