//! Bare values of pictures, places, games and news.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "steam-key",
        what: "Steam Web API key",
        severity: Severity::Medium,
        keywords: &["steam"],
        finder: bare("[A-F0-9]{32}", 32),
        checks: &[Check::Digit],
        found: &[
            "| steam_key | «3395¦7B5859E7F3E6D6128012DB1EDFAA» |",
            "Steam 的 key 是 «A5¦6B107241C248DFE72E8F3EE2EC3167»。",
            "The new key for Steam: «4BB2¦148209DC392315C19A71624C12C7»",
        ],
        kept: &[
            "Look at node 9A4D2A75D0D0DE2048EA9CC3A1523D28 in the graph.",
            "Steam (plan B) has 9186 rows.",
            "STEAM_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "lastfm-key",
        what: "Last.fm API key or secret",
        severity: Severity::Low,
        keywords: &["lastfm", "last.fm"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "LASTFM_KEY=«84¦3defded64cb4fba429364308512e8e»",
            "Notre secret Last.fm : «b7e3¦83e286597ebc75eef40655048bc2»",
            "I think the secret of our Last.fm test account was «2d0¦a50550bfa9405fca159c6bbf69c7e\
             ».",
        ],
        kept: &[
            "The MD5 of the archive was c96f65a1682a52075013004aa0cb1f32.",
            "Last.fm returned 503 for job 2393, then 200.",
            "The Last.fm secret goes into LASTFM_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "flickr-secret",
        what: "Flickr API key",
        severity: Severity::Low,
        keywords: &["flickr"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "| flickr_secret | «68¦c75e9c67a693bfe965a945f9709be0» |",
            "| Flickr key | «d61f¦16b9b8e699866094afc1f4b5ce83» | ops |",
            "Flickr wants a key, so I sent «2ec9¦36d3466ebd72c347582b07f4c8f3»; it worked.",
        ],
        kept: &[
            "md5sum: 89bd322e625fa0e706fb54d8980e08b0  backup.tar",
            "I like Flickr, but the limits are tight.",
            "process.env.FLICKR_SECRET",
        ],
        ..KEYED
    },
    Rule {
        kind: "vimeo-token",
        what: "Vimeo access token",
        severity: Severity::Medium,
        keywords: &["vimeo"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "  - VIMEO_TOKEN=«fa5¦86c41f20c98d5b26eaf3da27fcb36»",
            "the token (Vimeo) → «b3¦96e3c40ab775be5c58105ceaec98b8»",
            "Vimeo token: «10¦a7c8d08e4bac9fa0893e14a15ad0c5»",
        ],
        kept: &[
            "Sum of the dump: bd81ed6d1a65afc20b87b794983b8db7",
            "The Vimeo invoice 3753 came to 49 EUR.",
            "os.environ[\"VIMEO_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "unsplash-key",
        what: "Unsplash access or secret key",
        severity: Severity::Low,
        keywords: &["unsplash"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "UNSPLASH_KEY=«fV¦Hl7vVwPpm41HeqR0qah97qLz8-oNklq-QQjTjrGpr» make release",
            "remember the Unsplash secret «N1¦bpQNL9NIe4M2OAwLSvIWYfssvc6xO9hSxgTlbd0Um»",
            "For Unsplash we use the secret «XRUi¦NC_TC9ud7tfVCN1jlpOEarS2ehoSEdTDMSuPIqQ», \
             valid until May.",
        ],
        kept: &[
            "The folder 68UBj9ohCKuCQLxZeDJgL6fFgIwUPZjUv2arWRnoXwv can go.",
            "Unsplash costs more since 1611 users joined.",
            "Where do I find the Unsplash secret?",
        ],
        ..KEYED
    },
    Rule {
        kind: "giphy-key",
        what: "Giphy API key",
        severity: Severity::Low,
        keywords: &["giphy"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "set -x GIPHY_KEY «iEV¦ZjFSQQQH3JoUQGjwX9zr0OCRD923t»",
            "**Giphy key**: `«G5y¦7iWv2TnxqVEiTkeoHNcZSwzPvZEQ3»`",
            "Jo sent the Giphy key by mail: «bX8F¦bbFqlGTeRT3XLMNHaAlkLdjWUSg5»",
        ],
        kept: &[
            "The folder X8hmIqc88VdFWrySwyu5YNSXrd2OH3s1 can go.",
            "The Giphy page 5970 shows the numbers.",
            "GIPHY_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "mux-secret",
        what: "Mux token secret",
        keywords: &["mux_", "mux "],
        finder: bare("[A-Za-z0-9+/]{75}", 75),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ARG MUX_SECRET=«zDkr¦+yRnog1gFV4hdGsX3h9RNXOGhdsI0HM8mWgTYbfw5Q44yau6E9XLgxDaG5KN5\
             wkOR81+HCg»",
            "- Mux token secret «MI2Z¦oiFc8OEIjXq1v1u+mBnX2nqj+4Es0zcV52ochc7Hp1u9MeOyf4j7PfWrB\
             fnazkMVBWjpbT7»",
            "Old Mux token secret: «YEY4¦e9uPxKrKl4HQbFkXk4f6YjfXxuD9QNw5njuqGlbXF/2W18Ok18nwMq\
             HVF1g4AodQjxEDGQv». Delete it!",
        ],
        kept: &[
            "Parcel zBwi4V/zaby8kr/Mfw6xd1UW7NXtS3Vqx3FBcdzNOZOLN3FGaNy4eHofOuopc0wSbJ02eEdBHp\
             H arrived.",
            "The talk about Mux starts at 10:25.",
            "os.environ[\"MUX_SECRET\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "cloudinary-secret",
        what: "Cloudinary API secret",
        keywords: &["cloudinary"],
        finder: bare("[A-Za-z0-9_-]{27}", 27),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "# Cloudinary\nCLOUDINARY_SECRET=«Od¦fBftXy9IJJ1RdPVlElW9TvU43»",
            "The API secret of the Cloudinary account was «lSEH¦jfUQHKxbLmulCOTf32SZywa», says \
             Jo.",
            "The Cloudinary API secret «6za-¦W9vID2z3cbwGHDBGSLFPcFx» is new.",
        ],
        kept: &[
            "The recording oaOEDqgfTWGS2pO77WJyNwlA-4c.wav is in the archive.",
            "We moved away from Cloudinary, see ticket OPS-7229.",
            "cloudinary_secret = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "openweather-key",
        what: "OpenWeather API key",
        severity: Severity::Low,
        keywords: &["openweather", "owm_"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "openweatherKey := \"«2b¦63535ba0453e74dd5294cdbde58034»\"",
            "My OpenWeather key («91¦da8a0f4b01e4e7c2bf257089d58867») was rotated.",
            "Use the OpenWeather key «5a¦4b07b6895a7ff8b87a08f568223eeb».",
        ],
        kept: &[
            "Sum of the dump: 689cf75a119f90fcf28e8b11b04771c4",
            "Two people at OpenWeather answered.",
            "OpenWeather key: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "tomtom-key",
        what: "TomTom API key",
        severity: Severity::Low,
        keywords: &["tomtom"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* tomtom_key: `«Avrx¦V511Tg7MLyDlzYzfXxBsyqAJboyH»`",
            "TomTom key = «xfXU¦x0ypEPGxyyARNeiBMmOyEDJjMPpC», in the vault since June",
            "TomTom accepts the key `«q6¦clCJaeEv2EqgixOHqRTyZgreMnHAO7»`, the other one not.",
        ],
        kept: &[
            "Row QUOqSB2PCgEamHL0lkjK0B0Kn9t9xeGo of the export was empty.",
            "TomTom support wrote about case 3067.",
            "TOMTOM_KEY=${TOMTOM_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "here-key",
        what: "HERE API key",
        severity: Severity::Medium,
        keywords: &["here_api", "here.com", "heremaps", "here maps"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "HERE_API_KEY: \"«Fv¦qF_ehnl-komkMwzFpG_SxKjci4o5LGXnmhRPtig9K»\"",
            "Log in to HERE maps with the key «sd¦ucI5qXEJjQ31JI2YD2ksRYonVHmfD7RUHYkfX_f0T».",
            "The HERE maps key is «w_¦hjtL1JbLnPTW0JnHR01DW7wdil4KJLrtE4aLOroyz».",
        ],
        kept: &[
            "Part 39FvR3UGMWGIYe8g_9IsuOK1_CAq9_AghauXPW_BdQ2 is out of stock.",
            "Our HERE maps contract ends on 2025-11-20.",
            "HERE_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "opencage-key",
        what: "OpenCage API key",
        severity: Severity::Low,
        keywords: &["opencage"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "os.environ[\"OPENCAGE_KEY\"] = \"«9f¦82cf11dcd4e50bad83aede3c4c846f»\"",
            "remember the OpenCage key «a4de¦09ef83c89021db9ae921a017f547»",
            "The OpenCage key «0981¦46e9b6b637819800a33303ba0974» is new.",
        ],
        kept: &[
            "The MD5 of the archive was af1b55cdab04f90e65736349069f8e59.",
            "The OpenCage client was upgraded to 4.17.1.",
            "OPENCAGE_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "ipstack-key",
        what: "ipstack access key",
        severity: Severity::Low,
        keywords: &["ipstack"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "const ipstackKey = \"«ce¦33bd09cc94cd9eda042ad0d35ff6ff»\";",
            "The new key for ipstack: «1a96¦23c88321f2725f0370fb23e5a4e3»",
            "Old ipstack key: «8895¦3b05a517dd54d5728d8100c7584f». Delete it!",
        ],
        kept: &[
            "The blob 871e43ca4a2d0fa595c2d0aebecb12eb is a test image.",
            "ipstack was down from 10:00 to 10:20 on 2024-03-12.",
            "IPSTACK_KEY=YOUR_IPSTACK_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "ipinfo-token",
        what: "IPinfo token",
        severity: Severity::Low,
        keywords: &["ipinfo"],
        finder: bare("[a-f0-9]{14}", 14),
        found: &[
            "{\"ipinfo_token\": \"«7880¦8ca64bfd9d»\", \"retries\": 3}",
            "IPinfo: token \"«26af¦89d885a477»\"",
            "Copy the IPinfo token <«a62d¦3f73b8d4f8»> to the phone.",
        ],
        kept: &[
            "Build 50746bdd151436 passed.",
            "The IPinfo plugin at 7112e87706a163f961aea8ee927ca7aaeba77a4b fails on Windows.",
            "the IPinfo token lives in ipinfo_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "nasa-key",
        what: "NASA API key",
        severity: Severity::Low,
        keywords: &["nasa"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "    nasa_key: «na37¦7j3mYypw2oTxUTiGV6v4ZqswzVphDfboldu1»",
            "- NASA key «TVZM¦9Namr0QfWCO2Y9XP8FK9g1hBQv2QBej20FnA»",
            "NASA key: «Rj7¦eYPxw0nYFm2vWpLnrjxH4TsD1tmWqwY4xM3j4»",
        ],
        kept: &[
            "Look at node Pts5Ci6nzy1BEZfVAGQHMb1FlGOJipbpp0PBFQ7g in the graph.",
            "Release 4584 drops support for NASA.",
            "NASA_KEY=%NASA_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "nytimes-key",
        what: "New York Times API key",
        severity: Severity::Low,
        keywords: &["nytimes", "new york times", "nyt_"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "NYTIMES_KEY = '«SJ2¦YMNipNVw9gJJNuh84ftPFuOoeZ9b3»'",
            "Log in to New York Times with the key «UR¦P6K5Zv74f3C258jv5Kc4Ztp3CwnoQo».",
            "New York Times 的 key 是 «cbIk¦0HW8b0zbPJ4w9NLE7Z5JiBFudGIa»。",
        ],
        kept: &[
            "Build XKXwaVbvsOQEW9MT9N7ula2NPQrpuHLz passed.",
            "We moved away from New York Times, see ticket OPS-5695.",
            "process.env.NYTIMES_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "ticketmaster-key",
        what: "Ticketmaster API key",
        severity: Severity::Low,
        keywords: &["ticketmaster"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ENV TICKETMASTER_KEY «MF2¦0VXCnkf79NGX06uQLZMKYA2e8f895»",
            "| Ticketmaster key | «YMqf¦giqaZ1t20lqdZWrFDC1qACZvPMYO» | ops |",
            "Ticketmaster wants a key, so I sent «ox¦JhCzbDMk5DY4RY8VSzCC0HfIhFsWk2»; it \
             worked.",
        ],
        kept: &[
            "Part Mb2GfS9SLUvA4jjtEpVdO3oB2sxlXY0Q is out of stock.",
            "The Ticketmaster client was upgraded to 4.17.1.",
            "TICKETMASTER_KEY={{ ticketmaster_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "yelp-key",
        what: "Yelp API key",
        severity: Severity::Low,
        keywords: &["yelp"],
        finder: bare("[A-Za-z0-9_-]{128}", 128),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "yelp_key = «qO6¦fl_4kfBxIYqrJu9NZYbChs11SLs7OY9PS8dHzlLNQAZxe8pwcJRUlt3cZc9ktFfhmZ\
             rMa-5EytgzE1A5m_ro95YHOk9_Zf6XYRAeBub46CZixAPFM8-0AiX2A01Je»",
            "The Yelp key is «7l2¦LOYXnYVFBvGCLRsoZpCynJfYZdEPqSOyjtmidz5QI35mW-RZ4fP_sSwMQOSQM\
             r4Cw2CSTs7guXoKOrZCTPLZRN1gF2cvpoIEp8Dt7PPxHmdrVuZ3QIH1G_z3LJ0_v».",
            "Notre key Yelp : «i4fe¦Mpo0j5WQBJeFZRWznq6OawjrCQiI03WcYG9ZLwjwY5xdY_jNMVc3rHAmLx6\
             9wUOxsdYxrPdCqYOICmB-oZeqgTe9Lpnlwmy_PMGNGpyRqSsZjV_SQJSU24L3dVZH»",
        ],
        kept: &[
            "The recording rNmbr58k7BknnkL6k4B09C5dZZe_U1TrBJYjhkJ3tFNCtbW12pYwmjNYSOvs5Gfy9sDD\
             ivZOE3id4Z266JpnoPTgUXeu8xsUrRD9fG0Z7WnOyWPsxyBVxEnAKNdOgKbr.wav is in the \
             archive.",
            "Release 6470 drops support for Yelp.",
            "Where do I find the Yelp key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "etsy-key",
        what: "Etsy API key",
        severity: Severity::Medium,
        keywords: &["etsy"],
        finder: bare("[a-z0-9]{24}", 24),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "ETSY_KEY=«jvja¦pt8tr6zhfi8w5t158r4e»",
            "I think the key of our Etsy test account was «9l¦psxgpucx74p8p08y90fxw2».",
            "For Etsy we use the key «ux¦ibvovwgl53ix3k7j8vcclm», valid until May.",
        ],
        kept: &[
            "Look at node 14py6hwlu8gc23e26n9nh1t7 in the graph.",
            "Our Etsy contract ends on 2025-11-10.",
            "Etsy rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "blynk-token",
        what: "Blynk device token",
        severity: Severity::Medium,
        keywords: &["blynk"],
        finder: bare("[A-Za-z0-9_-]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "let blynk_token = \"«nT¦gCGFezu8mUK9m_UMYdJMG_p6DvncqK»\";",
            "the token (Blynk) → «n6C¦evfLWCItNl2OkfIH2omYWtHQMgNsv»",
            "**Blynk token**: `«Ss1¦yPAEaizgd8QoURBQBHU3VsQZ_io3q»`",
        ],
        kept: &[
            "The folder ZroRpVyGBHJOGP1DW6zkBlE1msd_qrnP can go.",
            "The Blynk plugin at bb908a42b4896daca347eac7fabfca89d0cd1189 fails on Windows.",
            "The Blynk token goes into BLYNK_TOKEN.",
        ],
        ..KEYED
    },
];
