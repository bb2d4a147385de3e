//! Pictures, places, texts and films.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "mapbox-secret",
        what: "Mapbox secret token",
        literals: &["sk.eyJ"],
        finder: shape(r"sk\.eyJ[A-Za-z0-9_-]{20,240}\.[A-Za-z0-9_-]{22}", 269),
        found: &[
            "sk.e¦yJ1Ijoi8VxdR3nXkbgYzLqwMnyYePoy05xNa4NFqOdLZr16hHDYmosqR4a7tKqu87qT.WyBRgEDWs\
             NE8pPTjIRZhze",
            "| name | value |\n|---|---|\n| mapbox_secret | \
             «sk¦.eyJ1IjoiEfU605y5AlfWiHDvCTz6SEvNssrLrIlLjA88u3lkABPvNcU2fwnGay01pXlZ.HT1YAXr6\
             owOelO2XUu7HBm» |",
            "Both of them: [«sk.e¦yJ1IjoirOTvO53iHyTjZYhl8sjdM8eoTQW0S6VoNFFboV0oi3qk4FXxbgS9yq\
             1qgxmd.L66C8tyHw5keCO6bdccyny»], and nothing else.",
        ],
        kept: &[
            "MAPBOX_SECRET=${MAPBOX_SECRET}",
            "Everything from sk.eyJ on is cut by the console.",
            "pk.eyJ1IjoiYSJ9.short is public",
        ],
        ..MARKED
    },
    Rule {
        kind: "mapbox-temporary",
        what: "Mapbox temporary token",
        severity: Severity::Medium,
        literals: &["tk.eyJ"],
        finder: shape(r"tk\.eyJ[A-Za-z0-9_-]{20,340}\.[A-Za-z0-9_-]{22}", 369),
        found: &[
            "tk.e¦yJ1IjoiuxzTz7FuE0FZzIOdT7127jUcTulwWUnOGf5ctlsVkvrvfZkSO38yQC6pNf25cDT0dTNKH5\
             8owesdqrYXeTUAk3qxZS.efkxBWXtu8289ys17asSQV",
            "with:\n  mapbox-temporary: «tk.e¦yJ1IjoiiOtnY1kzOgIBViIfVSr22gqRIoRe1xf9L47soj5eSM\
             hOGepyQrPLPja0mrZJp1Lp1PH6G2XOw9BE22CJoDErPyfrI5.F1cadcD8KODURfgI72SezA»",
            "cat .env showed \"«tk¦.eyJ1IjoiqZ2SiPU196TKqiBKgxUpV6FurX49CcFklrHESOBshM1IBLJTBga\
             jb2Z0T7Zr0xG3NKkcJAzLR3CC4884q3rSHkXfLq.sklXr96xF0JFcrhuKOhb0b»\".",
        ],
        kept: &[
            "cp .env.sample .env  # MAPBOX_TEMPORARY=tk.eyJxxxxxxxxxxxxxxxxxxxx.xxxxxxxxxxxxxxx\
             xxxxxxx",
            "# tk.eyJ -> Mapbox",
            "The list had tk.eyJmGS (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "locationiq-key",
        what: "LocationIQ access token",
        severity: Severity::Medium,
        literals: &["pk."],
        finder: tailed(r"pk\.[a-f0-9]{32}", 35, Tail::Exact),
        found: &[
            "pk¦.c234d13d209b036203ea6add0e08befe",
            "LOCATIONIQ_KEY: \"«pk¦.211e93813e7227184335f83de54cc78b»\"",
            "Der Schlüssel lautet «pk¦.3442b51e729d3d2c7e294a4c70a024c9», gültig bis Ende Juli.",
        ],
        kept: &[
            "pk.<paste the rest>",
            "A value with pk. in front comes from LocationIQ.",
            "In the mail I could read pk.48a6b and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "adobe-secret",
        what: "Adobe client secret",
        literals: &["p8e-"],
        finder: shape("p8e-[A-Za-z0-9-]{32}", 36),
        checks: &[Check::Digit],
        found: &[
            "p8¦e-WZi8nHyJ-Nu-UNcVN-Qi5tJvzm0DCPh9",
            "set -x ADOBE_SECRET «p8e¦-CydNCVqoWC5eVZGSPaj9ouVFrskjjxcC»",
            "Old: «p8e¦-kPYXKEUxxGn5mex2ceoQeKgNLfHce6HF»; the new one comes on Monday.",
        ],
        kept: &[
            "p8e-****************",
            "Adobe documents the p8e- prefix.",
            "Adobe prints p8e-111N*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "frameio",
        what: "Frame.io API token",
        severity: Severity::Medium,
        literals: &["fio-u-"],
        finder: shape("fio-u-[A-Za-z0-9_=-]{64}", 70),
        found: &[
            "fi¦o-u-wJmjE-BZ9bQWgsG1Mt_7dKMMRlYCX_4k1wh-PX0C-U5IZKlYZj_50FrmpGT6wmmT",
            "export FRAMEIO=«fio¦-u-jxP8kCdL6jIaeKeQZ4m_rYARY8yD9krYAjToF4vaxX3yedCl=vtKGFi4eHO\
             SJhlr»",
            "Is «fio-¦u-bx3UFVf=AZ=f9Eic1PMz6gveNNFX8Url3z-zAhY4-gSXeFU5NfahdcKMbTeDY0nD» \
             still in use?",
        ],
        kept: &[
            "e.g. fio-u-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "Is the part after fio-u- random?",
            "Row 7: fio-u-gW2Rxo…",
        ],
        ..MARKED
    },
    Rule {
        kind: "imagekit-key",
        what: "ImageKit private key",
        literals: &["private_"],
        finder: tailed("private_[A-Za-z0-9+/]{27}=", 36, Tail::Exact),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "pr¦ivate_BCX1N3KSVCzlPH0/7+x5t6RO2Fm=",
            "\"imagekit_key\": \"«pr¦ivate_Ua/AfXQGp56D7wDn1XEc+lphGYj=»\",",
            "1. Copy «pri¦vate_zuyyoyMcY2AuskKhPBHr0nXJXbp=»\n2. Open ImageKit\n3. Paste it",
        ],
        kept: &[
            "IMAGEKIT_KEY=changeme",
            "/^private_[A-Za-z0-9]+$/",
            "Only private_L7qy was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "builderio-key",
        what: "Builder.io private key",
        severity: Severity::Medium,
        literals: &["bpk-"],
        finder: tailed("bpk-[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "bp¦k-1ba960855988e0966efaa9a19ec56d8a",
            "put(\"builderio_key\", \"«bpk¦-d04cca863db0e1182c8caab617496f73»\")",
            "Builder.io (staging): «bpk¦-fbb983bc048d7147e048027b37850b58»;",
        ],
        kept: &[
            "BUILDERIO_KEY=<your Builder.io value>",
            "Builder.io changed to the bpk- form last year.",
            "The console shows only bpk-9cc5ea… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "settlemint-token",
        what: "SettleMint access token",
        severity: Severity::Medium,
        literals: &["sm_aat_", "sm_pat_", "sm_sat_"],
        finder: shape("sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}", 23),
        checks: &[Check::Digit],
        found: &[
            "sm_¦aat_sJa3Rbo99w2LEB0S",
            "<settlemintToken>«sm_¦pat_oYn8Kyv126H080aS»</settlemintToken>",
            "In SettleMint, «sm_s¦at_m3t0qFJMBLmyJHlr» was made by the intern.",
        ],
        kept: &[
            "SETTLEMINT_TOKEN=\"sm_aat_xxxxxxxxxxxxxxxx\"  # replace me",
            "Search the logs for sm_aat_ and tell SettleMint.",
            "The list had sm_aat_ZO5 (cut off).",
        ],
        ..MARKED
    },
    // Its marker is the end.
    Rule {
        kind: "maxmind-key",
        what: "MaxMind licence key",
        severity: Severity::Medium,
        literals: &["_mmk"],
        finder: around("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", 36, 4, Tail::Exact),
        found: &[
            "Km4U¦vj_X2BtvXEkcOVTflAwwbZKVVdKuQw5h_mmk",
            "[default]\nmaxmind_key = «bP¦Em1A_6oDnVAtzVLJ0LEdyh9jNYZZp20ZyF_mmk»\nregion = \
             north",
            "Le jeton «6ES¦EXI_qgYRStDEDBFtZZvB6bJXvW7YE0JkZ_mmk», c'est pour la préproduction.",
        ],
        kept: &[
            "_mmk... goes here",
            "return s.startsWith('_mmk');",
            "MaxMind answers: bad value _mmk3eZ…",
        ],
        ..MARKED
    },
    Rule {
        kind: "intra42-secret",
        what: "42 intranet client secret",
        severity: Severity::Medium,
        literals: &["s-s4t2ud-", "s-s4t2af-"],
        finder: shape("s-s4t2(?:ud|af)-[a-f0-9]{64}", 73),
        found: &[
            "s-s4¦t2af-b749546b1b19ccaa23b638e6b1f31a0289ac381899723deec49a38027090a6ab",
            "intra42_secret=«s-s4¦t2ud-70b8895572a757c5b6a1c6ffb881dfbdea7a1b50a3e6f8cd2e7c7e42\
             93df3a07»&page=2",
            "That was «s-s4¦t2ud-29b30567b050ef0de30fb129ea1dd60ce34d8d47f4eb7a9f527c87a27046b6\
             25», as far as I remember.",
        ],
        kept: &[
            "Put yours here: s-s4t2ud-1234567890abcdef1234567890abcdef1234567890abcdef123456789\
             0abcdef",
            "Nothing in the dump has s-s4t2ud- in it.",
            "Masked: s-s4t2ud-2d133****",
        ],
        ..MARKED
    },
    Rule {
        kind: "shutterstock-token",
        what: "Shutterstock OAuth token",
        severity: Severity::Medium,
        literals: &["v2/"],
        finder: shape("v2/[A-Za-z0-9]{380}", 383),
        found: &[
            "v2¦/EL8g7SJrH5Vfh0by3PYZYRlFarOZRPiyMX0STDZlQ8ij5VZA0ZbJXqEmJFkpQYNtRDJCGIjQYu4WHq\
             997UEsnwSn0JPrspuYfjK2jB5PAs61EXJOxkgIOCQK2Ws6Jte0q322FJgq0Prg6A7hE2MgBKcxj6P9kW70\
             8Tn5teSiADMU5XN6ZZNcaYji05n9O8bPMl6FuoN2IWA9UmnuIT15AXvH9mtGh99CsY6sNVR3wnX25vZ18R\
             pvhsVBUxP0liYXqsaMCglxPefdCIhlb85BO95jpEYqjBwcrraCB9PiPU7XhjYyG4l5hbVAv4pd07Y7ONMG\
             ju2yxw0dhdFXkJfB2QzSNqgtcybisHfYwbBodIW4gsIWlyGtHhbVf0kk3pPjTPF6",
            "shutterstock: «v2¦/XzN7dUPrMloZH9bqLIYDMEKbftmOtLvNzJDgWOzWfTnpVUb6OJPJ9D55NzqjFiL\
             9eESukhokuis51DnBMJKoVoN388S2nODhLeMrZL0v7npEgEbkjigqZBYvxgRUOeyeh1C2tWWXEmAQ8DcrP\
             wvHVEtWBiOUmcSUCRsyp467C7BEoHOawbmrpWAho37MxB8vxyfgCtWvqc2G7kSGMfkdwOI6XgMx5mna8mD\
             bU7uRHi0Z8ZZBMemQ7gQF4xgUDFY4KKhySRXQbxvLOLm2LpQ69Mk8qI0bWQlan2BsvS2ahHjXOsWW7f1Gy\
             DZb0WePjaCjtdb9mc47rwYZ7DnGI85DNLvxWbF8rYLbHGY0oXWYoSEd3NmkEGPC1O757p0VAXTQg3Sk»",
            "The token «v2¦/srZcA6lG9ZxcY62CQS10fEA3pkTvOVlouKpxvU8X6y0xCcVv8c32sXwXaSkumqe4Kq2\
             ketJc8BH2TeQiRzFELZAatEdvcNhgn2NptOwmMqSKL28GWlmywcIMFmOL8FJjWXCVhMDRTEem0EWVib2wL\
             NllQ47XLLwNJbXAK2dVVJtc7W9A0nEmLw3csfzxOLROq3Qmp58sxVVQYz3Pqq7uNSDLdQ1bidIIyUsv3c2\
             bM6awVY69E5MSeOIOA3VSnTkcsnYGkYt0h3CtvMGBiw7kd5niGX4KxGD3FfHaw8ZSN2QJToQxHiAzk6agA\
             Mx6tIWAo94KwkDwlZcRjgi069S85JWm5CGuA8ACyJmqSqALti02z3ZIg1PfUGhVSPMkPA0cqb0U», \
             says the form.",
        ],
        kept: &[
            "os.environ[\"SHUTTERSTOCK_TOKEN\"]",
            "| Shutterstock | `v2/` | prefix |",
            "In the mail I could read v2/nyH and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "proof-key",
        what: "Proof API key",
        severity: Severity::Medium,
        literals: &["prf_"],
        finder: shape("prf_(?:cli_)?[A-Za-z0-9_-]{24}", 32),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "prf¦_zh0m_P5e0Je-BU2dhvvVeGWU",
            "const proofKey = \"«prf¦_cli_9aLlcHJXA4nKFAFHYt40iSAF»\";",
            "Please do not share «prf¦_cli_JfgjKhufZ9ijWP4tgejkTMte».",
        ],
        kept: &[
            "PROOF_KEY={{ proof_key }}",
            "`prf_` is how Proof marks its own.",
            "It ended up as prf_MgkCXQ... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "besttime-key",
        what: "BestTime private key",
        severity: Severity::Low,
        literals: &["pri_"],
        finder: tailed("pri_[a-f0-9]{32}", 36, Tail::Exact),
        found: &[
            "pri¦_947e53d3f88104a1959a441f84bc6e27",
            "echo '«pri¦_cbe9d0887b74413a6be63bd0c69f8a8c»' > /run/besttime-key",
            "Mira wrote: 'take «pri¦_ee349a0af1b51af70ac00bc8b6d34fe4»'.",
        ],
        kept: &[
            "pri_<paste the rest>",
            "We filter on pri_ (that is BestTime).",
            "typed pri_b83, then gave up",
        ],
        ..MARKED
    },
];
