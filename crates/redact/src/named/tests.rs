//! Tests of the generic rule, on texts with secrets and without.

use crate::named::name::{Opener, Strength};
use crate::named::words::WORDS;

/// Returns the text with `«` and `»` around each value that a name gives away.
fn marked(text: &str) -> String {
    let mut found = Vec::new();
    let lower = text.to_ascii_lowercase();
    for (word, strength) in WORDS {
        for (at, _) in lower.match_indices(word) {
            let columns = &mut super::Columns::default();
            super::at(
                text.as_bytes(),
                at..at + word.len(),
                Opener::of(word, *strength),
                columns,
                &mut found,
            );
        }
    }
    found.sort_by_key(|span| (span.start, span.end));
    found.dedup_by_key(|span| (span.start, span.end));
    let mut out = String::new();
    let mut done = 0;
    for span in found.iter().filter(|span| span.end > span.start) {
        if span.start < done {
            continue;
        }
        out += &text[done..span.start];
        out += "«";
        out += &text[span.start..span.end];
        out += "»";
        done = span.end;
    }
    out + &text[done..]
}

fn finds(texts: &[&str]) {
    for text in texts {
        assert_eq!(marked(&text.replace(['«', '»'], "")), *text);
    }
}

#[test]
fn headings_stand_above_values() {
    finds(&[
        "Gitea token\n\n```\n«7e7f53d3c35d1ef12a1de72fd0182db515ea9d6c»\n```",
        "### Meraki dashboard API key\r\n«e33811d2879663eb2e95e63ea003da4b6a859727»\r\n",
        "API key\n\n«6bde466c-edd7-4413-8ce2-97114c9f0cb7»\n",
        "db password is:\r\n«plan_candle_wolf_902»",
    ]);
}

#[test]
fn sentences_and_talk() {
    finds(&[
        "The Acme API key (currently «10df1ee9-5569-487a-9aa6-2cd148cd2bcf») is shared.",
        "our auth token («6b5d9dbe8d813f8dc5cd2b947ce45efa»)",
        "use the token «7b9ed0d70b14e02b4fd49c390a9442dc» for the API",
        "🔐«ccfb6465-f19a-4779-80ff-2b5d0cc07210»🔐 is the Snyk API token",
        "dana> Gitea token? lee> «abbe90e712a63b533ac957e028aae98a34191e9f»",
        "door PIN «1333»",
    ]);
}

#[test]
fn calls_take_logins() {
    finds(&[
        "DriverManager.getConnection(url, \"postgres\", \"«r63cb_lJ7r^J+G»\");",
        "get(u, auth=HTTPBasicAuth('admin', '«Oce4nP4nd4_695»'))",
        "auth=(\"admin\", \"«Tr4ckBl00m_77»\")",
        "password = String::from(\"«Tr4ckBl00m_77»\")",
    ]);
}

#[test]
fn columns() {
    finds(&[
        "user,password\nbob,«Vn7!kqRz#2pL»\neve,«Tr4ckBl00m_77»\n",
        "| user | password |\n|---|---|\n| bob | «k7Tq!rVn20» |",
    ]);
}

#[test]
fn no_secrets() {
    finds(&[
        "span=a06870396f2b4c5d token expired",
        "Authorization: Bearer YOUR_TOKEN_HERE\ncus_elWKUGGsMu5QHJ",
        "credentials ([ff7ef8e](https://github.com/o/r/commit/ff7ef8e7ade7171bce3e4f30ff10a2e9f6c27ca0))",
        "the password reset bug was introduced in 95a26fba0d66e2e796afef52866f6e30297117f8",
        "max_tokens,password\n",
        "262bdf5030bd653eaf4b54c83f279cdef2c1cd54 is the commit that fixed the token",
        "commit d87653d139b47b0674ea9adba20970abec255fa3 is the token fix",
        "- d87653d139b47b0674ea9adba20970abec255fa3 is the API key rotation commit",
        "5c9f5a0e-3b1c-4a8e-9d2f-7b6a5c4d3e2f is the password reset request",
        "password = get_password(\"db\")",
        "password: string",
        "token = lexer.next()",
        "key? yes: it works",
        "PIN_LED = 13",
        "password",
        "password=",
        "password:\n",
        "login(",
        "token?",
        "|password|",
    ]);
    assert!(
        WORDS
            .iter()
            .any(|(_, strength)| *strength == Strength::Login)
    );
}
