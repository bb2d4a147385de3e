//! Personal data: payment cards and bank accounts always, all else where the owner asks for it.

use crate::redact::rule::{Class, Finder, Rule, Severity};

/// Personal data, which one pass over the text finds.
const PERSONAL: Rule = Rule {
    kind: "",
    what: "",
    class: Class::Personal,
    severity: Severity::Medium,
    literals: &[],
    keywords: &[],
    finder: Finder::Personal,
    checks: &[],
    found: &[],
    kept: &[],
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "credit-card",
        what: "Payment card number (ISO/IEC 7812)",
        severity: Severity::High,
        found: &[
            "4331526018159083",
            "visa «4331 5260 1815 9083», valid to 12/27, code 123",
            "{\"number\":\"«5425-3016-6131-8608»\"}",
            "Amex «3714 913909 96033».",
            "UnionPay卡号«6212909378657975436»。",
        ],
        kept: &[
            "4331526018159084",
            "at 20240115123045678 the run began",
            "0.4331526018159083",
            "order_4331526018159083",
            "12345678-4331-5260-1815-908312345678",
            "1024 4331 5260 1815 9083 2048",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "iban",
        what: "International bank account number (ISO 13616)",
        severity: Severity::Medium,
        found: &[
            "DE44500105175407324931",
            "Konto «DE44 5001 0517 5407 3249 31» BIC INGDDEFF",
            "IBAN:«GB33BUKB20201555555555».",
            "iban=«fr7630006000011234567890189»&name=a",
        ],
        kept: &[
            "DE45500105175407324931",
            "DE44 5001 0517 5407 3249",
            "commit XDE44500105175407324931",
            "The IBAN has 22 characters in DE and 27 in FR.",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "email",
        what: "E-mail address",
        severity: Severity::Low,
        found: &[
            "Ask «jane.doe+work@firma.de».",
            "<«o'brien@mail.tcd.ie»>",
            "邮箱是«li.wei@firma.cn»。",
            "mailto:«müller@bücher.ch»?subject=x",
        ],
        kept: &[
            "jane@example.com",
            "git@github.com:org/repo.git",
            "noreply@firma.de",
            "react@18.2.0 and logo@2x.png",
            "@app.route('/x')",
            "ssh://deploy@host.firma.de/srv",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "phone",
        what: "Telephone number (ITU-T E.164, NANP)",
        severity: Severity::Low,
        found: &[
            "Call «+49 151 2345 6789».",
            "«(415) 555-2671» or «415-555-2671»",
            "tel: «030 1234567»",
            "手机：«13812345678»",
        ],
        kept: &[
            "@@ -1,7 +1,9 @@",
            "2024-01-15 10:00:00 +0100",
            "order 302-5551234-9876543",
            "version 415.12.7",
            "phone model 12",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "ip-address",
        what: "Public IP address, version 4 or 6",
        severity: Severity::Low,
        found: &[
            "from «81.2.69.142» port 22",
            "http://«81.2.69.142»:8080/",
            "«2a02:8070:8883:5a00::1f».",
        ],
        kept: &[
            "127.0.0.1, 10.0.0.7, 192.168.1.1, 203.0.113.9",
            "version 81.2.69.142",
            "1.3.6.1.4.1.311",
            "2001:db8::1 and fe80::1",
            "std::fmt 12:30:45",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "us-ssn",
        what: "Social security number of the United States (SSA)",
        found: &[
            "SSN «536-22-8726»",
            "his number: «536-22-8726».",
            "ssn=«536228726»",
        ],
        kept: &[
            "666-22-8726",
            "536-00-8726",
            "900-22-8726",
            "build 536228726",
            "1-536-22-8726-9",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "uk-nino",
        what: "National insurance number of the United Kingdom (HMRC)",
        found: &[
            "NINO: «AB123456C»",
            "«AB 12 34 56 C»",
            "National Insurance no. «jg103759a»",
        ],
        kept: &[
            "part AB123456C",
            "NINO BG123456C",
            "NINO AB123456F",
            "NINO DA123456A",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "es-dni",
        what: "Identity number of Spain: DNI or NIE",
        found: &[
            "DNI «48213579J»",
            "«70.194.826-E»,",
            "NIE «X4821357M» y «Y-7019482-B»",
        ],
        kept: &[
            "DNI 48213579K",
            "20240115T120000",
            "X4821357A",
            "a48213579J",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "fr-nir",
        what: "Social security number of France: NIR (INSEE)",
        found: &[
            "n° «1 85 05 78 006 084 91»",
            "«185057800608491».",
            "NIR «2 85 05 2B 006 084 12», «185052A00608435»",
        ],
        kept: &[
            "1 85 05 78 006 084 92",
            "1 85 15 78 006 084 91",
            "985057800608491",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "de-tax-id",
        what: "Tax number of a person in Germany (IdNr)",
        found: &[
            "Steuer-ID «86095742719»",
            "IdNr. «47 036 892 816»",
            "tax id: «65929970489»",
        ],
        kept: &[
            "run 86095742719",
            "Steuer-ID 86095742718",
            "IdNr 12345678901",
            "86 095 742 719",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "it-codice-fiscale",
        what: "Tax number of Italy: codice fiscale",
        found: &[
            "«RSSMRA85T10A562S»",
            "CF: «BNCLCU92D55F205V».",
            "cf=«vrdgpp60a01h501q»",
        ],
        kept: &["RSSMRA85T10A562T", "RSSMRA85F10A562S", "XRSSMRA85T10A562S"],
        ..PERSONAL
    },
    Rule {
        kind: "pl-pesel",
        what: "Identity number of Poland: PESEL",
        found: &[
            "PESEL «44051401359»",
            "pesel: «02270803624»",
            "«89123112344» (PESEL)",
        ],
        kept: &["id 44051401359", "PESEL 44051401358", "PESEL 44991401359"],
        ..PERSONAL
    },
    Rule {
        kind: "nl-bsn",
        what: "Citizen number of the Netherlands: BSN",
        found: &[
            "BSN «111222333»",
            "bsn: «1234.56.782»",
            "burgerservicenummer «198 736 459»",
        ],
        kept: &["ticket 111222333", "BSN 111222334", "BSN 000000000"],
        ..PERSONAL
    },
    Rule {
        kind: "br-cpf",
        what: "Taxpayer number of Brazil: CPF",
        found: &[
            "«529.982.247-25»",
            "CPF «11144477735»",
            "cpf: «384.920.175-97».",
        ],
        kept: &["529.982.247-26", "build 11144477735", "CPF 111.111.111-11"],
        ..PERSONAL
    },
    Rule {
        kind: "in-aadhaar",
        what: "Identity number of India: Aadhaar",
        found: &[
            "Aadhaar «2994 8763 0216»",
            "aadhaar_no=«548620173945»",
            "आधार «9812 3740 5616»",
        ],
        kept: &[
            "2994 8763 0216",
            "Aadhaar 2994 8763 0217",
            "Aadhaar 0994 8763 0216",
        ],
        ..PERSONAL
    },
    Rule {
        kind: "ca-sin",
        what: "Social insurance number of Canada",
        found: &[
            "SIN: «130 692 544»",
            "social insurance number «739-201-853»",
            "Canadian SIN «130692544»",
        ],
        kept: &[
            "130 692 544",
            "SIN: 130 692 545",
            "SIN: 046 454 286",
            "a sin: 12 of 130",
        ],
        ..PERSONAL
    },
];
