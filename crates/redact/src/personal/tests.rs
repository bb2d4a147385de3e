//! Tests of the findings of the scanners, and of the texts that they leave, in frames as people and
//! programs write them.

mod laws;

use crate::personal::*;
use crate::rule::Finder;
use crate::rules;

const EVERYTHING: Personal = Personal {
    cards: true,
    ibans: true,
    emails: true,
    phones: true,
    national_ids: true,
    addresses: true,
};

/// The texts before and after a number in real texts.
const FRAMES: [(&str, &str); 24] = [
    ("", ""),
    ("card ", "."),
    ("It is `", "`,"),
    ("**", "**"),
    ("_", "_"),
    ("(", ")"),
    ("[", "](x)"),
    ("\"", "\""),
    ("{\"number\":\"", "\",\"cvv\":1}"),
    ("https://a.b/pay?pan=", "&x=1"),
    ("number%3D", "%26x"),
    ("a%20", "%20b"),
    ("卡号", "，谢谢"),
    ("「", "」"),
    ("| ", " | 12 |"),
    ("a\n", "\nb"),
    ("\\n", "\\n"),
    ("<td>", "</td>"),
    ("x = ", " 12/27 123"),
    ("paid 20 EUR with ", "; thanks"),
    ("\u{1}", "\u{1}"),
    ("- 2024-01-15: ", " (old)"),
    (";", "=2512101"),
    ("é", "é"),
];

fn spans(text: &str, wanted: Personal) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    scan(text.as_bytes(), wanted, &mut found);
    let rules: Vec<&str> = rules::all().map(|rule| rule.kind).collect();
    found
        .iter()
        .map(|span| {
            let kind = rules.iter().find(|kind| **kind == span.kind.as_str());
            let kind = kind.expect("a rule of this kind");
            (text[span.start..span.end].to_owned(), *kind)
        })
        .collect()
}

fn only(kind: &str) -> Personal {
    Personal::of_kind(kind).expect("a kind")
}

fn values(text: &str, kind: &str) -> Vec<String> {
    let found = spans(text, only(kind)).into_iter();
    found.filter(|f| f.1 == kind).map(|f| f.0).collect()
}

/// Asserts that every text is found whole, and alone, under this kind.
fn finds(kind: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(values(text, kind), [text.to_string()], "{text}");
    }
}

/// Asserts that no text holds anything of this kind.
fn keeps(kind: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(values(text, kind), [""; 0], "{text}");
    }
}

#[test]
fn the_examples_of_the_rules_hold() {
    let mut rules: Vec<_> = rules::all().collect();
    rules.retain(|rule| matches!(rule.finder, Finder::Personal));
    assert_eq!(rules.len(), 5 + national::KINDS.len());
    for rule in rules {
        let samples = rules::samples::of(rule);
        for example in &samples.found {
            let (text, secrets) = marked(example);
            assert_eq!(values(&text, rule.kind), secrets, "{example}");
        }
        for text in &samples.kept {
            keeps(rule.kind, &[text]);
        }
    }
}

/// Returns a text without its marks, and the texts between the marks.
fn marked(example: &str) -> (String, Vec<String>) {
    let text = example.replace(['«', '»'], "");
    let parts = example.split('«').skip(1);
    let secrets = parts.filter_map(|part| Some(part.split_once('»')?.0.to_owned()));
    (text, secrets.collect())
}

#[test]
fn nothing_is_found_that_is_not_wanted() {
    let text =
        "4331526018159083 DE44500105175407324931 a@b.de +4915123456789 536-22-8726 81.2.69.142";
    assert_eq!(spans(text, EVERYTHING).len(), 6);
    assert_eq!(spans(text, Personal::PROVEN).len(), 2);
    assert_eq!(spans(text, Personal::default()), []);
    assert_eq!(Personal::of_kind("github-pat"), None);
}

#[test]
fn published_test_cards_go_too() {
    finds(
        "credit-card",
        &[
            "4111 1111 1111 1111",
            "4242424242424242",
            "5555-5555-5555-4444",
            "3782 822463 10005",
            "6011 1111 1111 1117",
            "3056 930902 5904",
            "3530 1113 3330 0000",
            "6200 0000 0000 0005",
            "4111\u{a0}1111\u{a0}1111\u{a0}1111",
            "4111\u{2011}1111\u{2011}1111\u{2011}1111",
            "4111%201111%201111%201111",
            "4111&nbsp;1111&nbsp;1111&nbsp;1111",
        ],
    );
}

#[test]
fn numbers_that_only_look_like_cards_stay() {
    keeps(
        "credit-card",
        &[
            "4111.1111.1111.1111",
            "4111 1111-1111 1111",
            "4111  1111  1111  1111",
            "4111 111111 111111",
            "411 11111 1111 1111",
            "14111111111111111",
            "41111111111111110",
            "a4111111111111111",
            "4111111111111111b",
            "0x4111111111111111",
            "4111111111111111.5",
            "id_4111111111111111",
            "4111111111111111_x",
            "3.4111111111111111",
            "-0.4111111111111111",
            "4444444444444444",
            "0000000000000000",
            "1700000000000000000",
            "1705312345678901234",
            "20240115123045678",
            "2024-4111111111111111",
            "550e8400-4111-1111-1111-111111111111",
            "4222222222222",
            "EAN 4006381333931",
            "+378282246310005",
            "9999999999999995",
        ],
    );
    finds("credit-card", &["4222 222 222 222"]);
    assert_eq!(
        values("Visa 4222222222222", "credit-card"),
        ["4222222222222"]
    );
    assert_eq!(
        values("%B4111111111111111^DOE/J^2512", "credit-card"),
        ["4111111111111111"]
    );
    keeps(
        "credit-card",
        &[
            "8220 8270 8298 8299 829A",
            "81AF 8220 8270 8298 8299",
            "8220 8270 8298 8299 8301",
        ],
    );
    let table = "4111 1111 1111 1111 2048";
    keeps("credit-card", &[table]);
    assert_eq!(
        values(&format!("cardNumber {table}"), "credit-card").len(),
        1
    );
}

#[test]
fn every_country_has_its_ibans() {
    for (code, form) in iban::COUNTRIES {
        let code = std::str::from_utf8(*code).expect("letters");
        let body: String = form
            .iter()
            .flat_map(|(count, sort)| {
                let signs = if *sort == b'a' { "WXYZ" } else { "47102958" };
                signs.chars().cycle().take(*count)
            })
            .collect();
        let sum = crate::checksum::mod97(format!("{body}{code}00").bytes());
        let iban = format!("{code}{:02}{body}", 98 - sum.expect("digits and letters"));
        let parts: Vec<&str> = (0..iban.len())
            .step_by(4)
            .map(|at| &iban[at..iban.len().min(at + 4)])
            .collect();
        for (before, after) in FRAMES {
            for spelling in [
                iban.clone(),
                iban.to_lowercase(),
                parts.join(" "),
                parts.join("-"),
                parts.join("\u{a0}"),
            ] {
                let text = format!("{before}{spelling}{after}");
                assert_eq!(values(&text, "iban"), [spelling], "{text}");
            }
        }
        let (text, next) = (parts.join(" "), ["BIC", "ABCD", "1234"]);
        for word in next {
            assert_eq!(values(&format!("{text} {word}"), "iban"), [text.as_str()]);
        }
        keeps(
            "iban",
            &[
                &format!("{iban}0"),
                &format!("X{iban}"),
                &format!("{}1{}", &iban[..4], &iban[5..]),
                &iban[..iban.len() - 1],
                &parts.join("  "),
                &parts.join("."),
            ],
        );
    }
}

#[test]
fn check_digits_alone_make_no_iban() {
    // Their remainder is 1, but no such country has numbers of this form.
    keeps(
        "iban",
        &[
            "DE1950010517540732493A",
            "GB97B0KB20201555555555",
            "XX98500105175407324931",
        ],
    );
    // Letters of both cases, and lower case in groups, are words.
    keeps(
        "iban",
        &[
            "De44500105175407324931",
            "de44 5001 0517 5407 3249 31",
            "DE44 50010517 540732493 1",
        ],
    );
}

#[test]
fn addresses_of_people_and_not_of_machines() {
    finds(
        "email",
        &[
            "jane@firma.de",
            "j@b.co",
            "jane.doe+tag@sub.firma.co.uk",
            "jane_doe-x@firma.museum",
            "用户@例子.公司",
            "josé@correo.es",
            "jane@xn--bcher-kva.ch",
            "12345@qq.com",
        ],
    );
    keeps(
        "email",
        &[
            "jane@host",
            "jane@example.com",
            "jane@mail.example.org",
            "jane@shop.test",
            "jane@a.invalid",
            "jane@printer.local",
            "jane@localhost",
            "NoReply@firma.de",
            "git@host.firma.de:a/b",
            "1+jane@users.noreply.github.com",
            "@firma/pkg",
            "pkg@1.2.3",
            "pkg@v1.2.3-beta.rc",
            "logo@2x.png",
            "getty@tty1.service",
            "@jane@social.firma.de",
            "a @ firma.de",
            "a@.de",
            "a@firma..de",
            "a@-firma.de",
            "https://jane:x@firma.de/",
            "a.@firma.de",
            "x@a.b",
        ],
    );
    for (text, address) in [
        ("Mail jane@firma.de.", "jane@firma.de"),
        ("'jane@firma.de'", "jane@firma.de"),
        ("a,jane@firma.de,b", "jane@firma.de"),
        ("jane@firma.de还有", "jane@firma.de"),
        ("联系jane@firma.de", "jane@firma.de"),
        ("jane@firma.de:hunter2", "jane@firma.de"),
        ("https://a.de/?to=jane@firma.de", "jane@firma.de"),
        ("jane@firma.de\u{1}x", "jane@firma.de"),
    ] {
        assert_eq!(values(text, "email"), [address], "{text}");
    }
}

#[test]
fn telephones_and_not_other_numbers() {
    finds(
        "phone",
        &[
            "+14155552671",
            "+1 415 555 2671",
            "+1 (415) 555-2671",
            "+49 (0) 30 1234567",
            "+33 6 12 34 56 78",
            "+33.6.12.34.56.78",
            "+44 20 7946 0958",
            "+86 138 1234 5678",
            "(415) 555-2671",
            "415-555-2671",
            "415.555.2671",
            "1-800-555-2671",
            "+354 555 1234",
        ],
    );
    keeps(
        "phone",
        &[
            "+1,234",
            "+1",
            "+0200",
            "@@ -10,7 +10,9 @@ fn",
            "2024-01-15T10:00:00+01:00",
            "x+14155552671",
            "+2024-01-15 10:00:00",
            "+192.168.100.100",
            "+10 000 000",
            "+1 234 567 890",
            "+12345678",
            "2024-01-15",
            "15.01.2024",
            "192.168.100.200",
            "415-155-2671",
            "115-555-2671",
            "9-415-555-2671",
            "415-555-26711",
            "415 555 2671",
            "4155552671",
            "1.2.3-4155552671",
            "978-3-16-148410-0",
            "112-5552671-9999999",
            "+++ 14155552671",
            "phones: 12 of 4000000",
            "512/768/1024",
            "+262142-12-31",
            "+2147483647",
            "iphone 4155552671",
            "phone 2024-01-15",
            "smaller 4155552671",
            "+8912345678901",
        ],
    );
    for (text, number) in [
        ("phone: 4155552671", "4155552671"),
        ("Phone number is 020 7946 0958.", "020 7946 0958"),
        ("userPhone=\"0301234567\"", "0301234567"),
        ("phone_number: 0301234567", "0301234567"),
        ("Tel. 030/1234567", "030/1234567"),
        ("Fax (030) 1234567", "(030) 1234567"),
        ("Móvil: 612 345 678", "612 345 678"),
        ("Телефон: 8 (912) 345-67-89", "8 (912) 345-67-89"),
        ("电话：010-12345678，", "010-12345678"),
        ("Call me at +1 415 555 2671 12 times", "+1 415 555 2671"),
        ("tel:+49-151-23456789", "+49-151-23456789"),
        ("| phone | 0301234567 |", "0301234567"),
        ("415-555-2671x12", "415-555-2671"),
    ] {
        assert_eq!(values(text, "phone"), [number], "{text}");
    }
}

#[test]
fn public_addresses_and_not_versions() {
    finds(
        "ip-address",
        &[
            "81.2.69.142",
            "2a02:8070:8883:5a00::1f",
            "2606:4700:4700::1111",
        ],
    );
    keeps(
        "ip-address",
        &[
            "v1.2.3.4",
            "version 81.2.69.142",
            "pkg==81.2.69.142",
            "Chrome/81.2.69.142",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "127.0.0.1",
            "169.254.1.1",
            "100.64.1.1",
            "192.0.2.1",
            "198.51.100.7",
            "203.0.113.7",
            "0.0.0.0",
            "255.255.255.0",
            "224.0.0.1",
            "81.2.69.142.5",
            "81.2.69.342",
            "81.2.69.042",
            "81.2.69",
            "5.81.2.69.142",
            "1.2.3.4 Introduction",
            "fixed in 1.5.4.3",
            "1.3.101.110",
            "1.3.6.1",
            "2.5.29.37",
            "## 1.2.3.4 More",
            "81.2.69.142-rc1",
            "a81.2.69.142",
            "81.2.69.142b",
            "::1",
            "fe80::1",
            "2001:db8::8",
            "3fff:1::1",
            "fd00::1",
            "a::b",
            "2024:01:15",
            "2a02:8070:8883:5a00::1fg",
        ],
    );
    for (text, address) in [
        ("at 81.2.69.142.", "81.2.69.142"),
        ("81.2.69.0/24", "81.2.69.0"),
        ("client 5.9.12.7", "5.9.12.7"),
        ("http://5.9.12.7/", "5.9.12.7"),
        ("http://[2606:4700:4700::1111]:443/", "2606:4700:4700::1111"),
        ("root@81.2.69.142:", "81.2.69.142"),
        ("from 2a02:8070:8883:5a00::1f:", "2a02:8070:8883:5a00::1f"),
    ] {
        assert_eq!(values(text, "ip-address"), [address], "{text}");
    }
}

#[test]
fn clean_texts_stay() {
    let text = "## 1.12.0 (2024-01-15)\n- rustc 1.89.0, id 550e8400-e29b-41d4-a716-446655440000\n\
        sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n\
        diff --git a/x b/x\n@@ -1,7 +1,9 @@\n+let x = 1_000_000;\n+3.14159265358979\n\
        [2024-01-15T12:30:45.678901234+02:00] took 1705312345678901234 ns, pid 48121\n\
        ISBN 978-3-16-148410-0, order 302-1234567-7654321, tweet 1745123456789012345\n\
        127.0.0.1:8080 192.168.1.20 ::1 52:54:00:12:34:56 lodash@4.17.21 @types/node\n\
        1024 2048 4096 8192 16384\n0.1234567890123456 1e-9 6.02214076e23 #4331 PR-20240115\n";
    assert_eq!(spans(text, EVERYTHING), []);
}
