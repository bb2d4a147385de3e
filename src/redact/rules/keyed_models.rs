//! Bare values of models, searches and scrapers.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "mistral-key",
        what: "Mistral API key",
        keywords: &["mistral"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "# Mistral\nMISTRAL_KEY=«qSCM¦AWIK4S360oJkthUO1tST0eg4mPSP»",
            "My Mistral key («YTK¦4f2JUKI7H6r474hythSa05IR2UyzL») was rotated.",
            "Mistral wants a key, so I sent «AFL¦GnLn8P241mE7GHgQ6i0DbAXsflDfF»; it worked.",
        ],
        kept: &[
            "Build yEVZWWe4Riky07J3Ek2ecizG8J9pyD7i passed.",
            "Two people at Mistral answered.",
            "mistral_key: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "cohere-key",
        what: "Cohere API key",
        keywords: &["cohere", "co_api"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "cohereKey := \"«jsBl¦hUMZs79iO10t4gZ0p9qxgEFpGN2GNZGRzd7x»\"",
            "remember the Cohere key «Lnt¦R4YUoLXXIYImh9zzcxj51EsXYOl04z16c84fz»",
            "- Cohere key «VpI¦6r6qHTKRr7NmceMjWKZHhUdsXLJqySh77GBuU»",
        ],
        kept: &[
            "The folder iqfk9a4EwHggYkeEOaThKQKV6aPceBSb9cFv1ct4 can go.",
            "We moved away from Cohere, see ticket OPS-2112.",
            "the Cohere key lives in cohere_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "ai21-key",
        what: "AI21 API key",
        keywords: &["ai21"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "    ai21_key: «LH¦mha3hSpY8ECgbBtY32OPcwODn6lLXi»",
            "The AI21 key is «yrV¦qNJ86fyLcQkL4QUOCVnXhVI5thCd6».",
            "Old AI21 key: «ENB¦nejPbyGmhdZiypSd1MueBW7lFRScN». Delete it!",
        ],
        kept: &[
            "Look at node hIEEaKTRLQapDfnBZ2WfALqGp7dlmFRC in the graph.",
            "AI21 was down from 10:00 to 10:20 on 2024-03-18.",
            "AI21 key: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "zhipu-key",
        what: "Zhipu or Z.ai API key",
        keywords: &["zhipu", "bigmodel", "glm", "z.ai", "zai_"],
        finder: bare(r"[a-f0-9]{32}\.[A-Za-z0-9]{16}", 49),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ZHIPU_KEY: \"«3559¦0bc29260d2f3a07ec13e4e8266cb.zJ04vWeR6iHYIN6l»\"",
            "Zhipu or Z.ai accepts the key `«8743¦b7edc4e882e0fd97bf47fe01311b.GeckbO65HujD0Hnz\
             »`, the other one not.",
            "**Zhipu or Z.ai key**: `«c9¦c1c9e22ad03cdb1e2627c6da922818.pSVXQFQSU7FkwYZe»`",
        ],
        kept: &[
            "Parcel 0605b8657ea7cf3e751f185bdbf8b853.YfF9YDxJBkMuqyX6 arrived.",
            "The talk about Zhipu or Z.ai starts at 10:19.",
            "Zhipu or Z.ai rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "deepgram-key",
        what: "Deepgram API key",
        keywords: &["deepgram"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "set -x DEEPGRAM_KEY «b8¦1a62aa38d5dc02ddd0370bc9458be83989033f»",
            "- Deepgram key «4eb6¦1679ecabadfbc59979ac6be0b1ed264ec243»",
            "Copy the Deepgram key <«3bd¦1fd2a46b83d8de190a2aa077c622fe55336e4»> to the phone.",
        ],
        kept: &[
            "Reverted 54c6525e6ec4f6690e93ca56da55a4568522794d on Friday.",
            "Ask Mira who owns the Deepgram account.",
            "DEEPGRAM_KEY=${DEEPGRAM_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "assemblyai-key",
        what: "AssemblyAI API key",
        keywords: &["assemblyai"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "* assemblyai_key: `«84¦f60d153e52bd90ed7920c4b1c5fe21»`",
            "Jo sent the AssemblyAI key by mail: «908¦52ed10b2a22083564deb9aa2e66d0»",
            "remember the AssemblyAI key «c7d¦1fc34a0a48b846be5e47fad6b73ba»",
        ],
        kept: &[
            "The MD5 of the archive was 02e222f939f688b12c3969e12f1f1df6.",
            "The AssemblyAI adapter was built from commit \
             d2e4ba20d857289eab7bfe8ab9f53a1ceedfad34.",
            "ASSEMBLYAI_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "baseten-key",
        what: "Baseten API key",
        keywords: &["baseten"],
        finder: bare(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}", 41),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "let baseten_key = \"«2e79¦f375.4iapRRjEAvecKmaU9kbM0illLk76FbAa»\";",
            "the key (Baseten) → «t55Q¦1bdQ.QcWTs6NgVcCrsIj7NyuWx91auED24Jpl»",
            "Notre key Baseten : «18T¦HeoYR.iDFyRWWJfscmcDIxAhfq1mqW0KZNZfgu»",
        ],
        kept: &[
            "Part MYajYHdy.dBhYE83aIctT9IYkVX8IoH06ypYXl8gk is out of stock.",
            "Baseten returned 503 for job 9597, then 200.",
            "process.env.BASETEN_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "clarifai-key",
        what: "Clarifai API key",
        severity: Severity::Medium,
        keywords: &["clarifai"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "{\"clarifai_key\": \"«ef¦1ba82e4b724566a063438b125cc37d»\", \"retries\": 3}",
            "Clarifai: key \"«49¦a8e7da0a1f5705a781f0119532a002»\"",
            "Log in to Clarifai with the key «deed¦a2daae05ab600885a89e45d6510d».",
        ],
        kept: &[
            "md5sum: 0977b81e097ede1d9d5ed458e217d85a  backup.tar",
            "Clarifai support wrote about case 5719.",
            "CLARIFAI_KEY=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "wandb-key",
        what: "Weights & Biases API key",
        keywords: &["wandb", "weights & biases", "weights and biases"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "\"wandb_key\": \"«361¦3f78c64c7a6ef01672603edf1a4fd4b27089d»\",",
            "For Weights & Biases we use the key «b8cc¦a0ca1b72b2f614bf6cafac12621e6f7d6178», \
             valid until May.",
            "Weights & Biases 的 key 是 «1d¦cebb9dbe4322a79e0ee9d18ed4d3025a77d881»。",
        ],
        kept: &[
            "git show fb31c1f236aedf232090e93fd0e30f6c00309096",
            "The Weights & Biases client was upgraded to 4.25.1.",
            "Where do I find the Weights & Biases key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "comet-key",
        what: "Comet ML API key",
        severity: Severity::Medium,
        keywords: &["comet", "cometml"],
        finder: bare("[A-Za-z0-9]{25}", 25),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "COMET_KEY=«U1Tn¦ZipA4MVJ5dEtYhJny0LtL» make release",
            "The key of the Comet account was «gSVc¦z1fgHjccEfa4sSt8uo1pb», says Jo.",
            "My Comet key («pDU¦gBLWDuQYLh5fqw1FTHFMgG») was rotated.",
        ],
        kept: &[
            "Build kk90QIOiWyeFgcT0ws6kVzwXj passed.",
            "Release 8811 drops support for Comet.",
            "comet_key = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "kaggle-key",
        what: "Kaggle API key",
        severity: Severity::Medium,
        keywords: &["kaggle"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "const kaggleKey = \"«8e22¦dc69a11439872e6e2fc5caecc5da»\";",
            "Old Kaggle key: «50c2¦80a20a9f11eb6892006275e1f590». Delete it!",
            "Kaggle key: «a07¦eb2cd5f8d0346938e18076a00b905»",
        ],
        kept: &[
            "Sum of the dump: 0c82f35b71cec00e6a314979a1df9db9",
            "The talk about Kaggle starts at 10:26.",
            "os.environ[\"KAGGLE_KEY\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "exa-key",
        what: "Exa search API key",
        severity: Severity::Medium,
        keywords: &["exa_", "exa.ai", "exa api", "exa key", "exa search"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "$env:EXA_KEY = \"«033a¦6a40-b2ce-a5e9-aad3-c686e915bc5c»\"",
            "The Exa key «79c0¦930f-e00f-55b3-71bf-8b89503a0d33» is new.",
            "| Exa key | «23a¦41719-da50-917c-65b8-d8ce3437e570» | ops |",
        ],
        kept: &[
            "Request 807cc644-f28e-db21-e694-a51acbc80cae took 40 ms.",
            "We moved away from Exa, see ticket OPS-5491.",
            "EXA_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "serper-key",
        what: "Serper API key",
        severity: Severity::Medium,
        keywords: &["serper"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "| serper_key | «51ba¦79b039b53c8e8aae19af112acdc4e345de22» |",
            "The Serper key is «fe5¦620329811fe9748688825bab30be2ef65e6c7».",
            "Serper key = «b50¦ef96908fca567d2989283d52c8bd22be110c5», in the vault since June",
        ],
        kept: &[
            "Bisect says ef5a709e7da52b40f24ee3cb9d7ca8267efad70c broke it.",
            "Serper costs more since 6971 users joined.",
            "SERPER_KEY=YOUR_SERPER_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "serpapi-key",
        what: "SerpApi API key",
        severity: Severity::Medium,
        keywords: &["serpapi", "serp_api"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "ARG SERPAPI_KEY=«5e2¦012d5813b591aa7c8b5a9558b83cb3a9268640e386bbe445b17a8e40d1f59\
             »",
            "SerpApi wants a key, so I sent «fb1¦559f89c0c2d5119439299f5c45476e5d2e5ccdc532ad01\
             da6ab82a0646a4a»; it worked.",
            "Use the SerpApi key «608¦adf9fb4654c176dba86f30d32b8e0e54934bd74d4b51ae6523fb8e2fcb80\
             d».",
        ],
        kept: &[
            "SHA-256 of the release: 23a9a4415ee382bcb4a7d5e09e93ac93851898bd65b5a237249c0cc29a\
             422886",
            "Two people at SerpApi answered.",
            "SerpApi rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "scraperapi-key",
        what: "ScraperAPI API key",
        severity: Severity::Medium,
        keywords: &["scraperapi", "scraper_api"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "os.environ[\"SCRAPERAPI_KEY\"] = \"«ae5¦b42b67f6962d42cc2f39fdf8f2d24»\"",
            "The new key for ScraperAPI: «31¦6a5cf76982540a9f7e043e34642f3d»",
            "I think the key of our ScraperAPI test account was «8843¦7e54b54f081f59308a0a93b23c58\
             ».",
        ],
        kept: &[
            "ETag b0514fee98f4a1585cb19877332348b4 did not change.",
            "ScraperAPI (plan B) has 7480 rows.",
            "SCRAPERAPI_KEY=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "scrapingbee-key",
        what: "ScrapingBee API key",
        severity: Severity::Medium,
        keywords: &["scrapingbee", "scraping_bee"],
        finder: bare("[A-Z0-9]{80}", 80),
        checks: &[Check::Digit],
        found: &[
            "  - SCRAPINGBEE_KEY=«MH¦WHS5GH1DMINGVDU5TKUSIE2DGEL5AP3SVUR6H5NLBCRA58S5RAQYO0J3VB\
             DM0R5QGI953RQ4GUCGYK»",
            "Log in to ScrapingBee with the key «UE¦5X6X82IPNM1MSLEEAP5JN4RF61IYGO4CJ6DWKUSJU5Z\
             EG0FFSEJ00LXTLV2YWN9KHBUKL39R77FW1K».",
            "The new key for ScrapingBee: «VR¦509CM342KPGZ8EAWUOZ4FKUE43CS6YF98K366I2U0LDPQIZJH\
             LY2ASE3JXZOE0AFBV8I6C9VHGKRMV»",
        ],
        kept: &[
            "Row QRI4KQGYA9KQ67RQ24QYJ0US18KRNPXCX3CZHMSBCI5EU2VJVSGT7L9G9PAG0LIU6GXHXO499SZCZX\
             ON of the export was empty.",
            "Jo set up ScrapingBee in room 24.",
            "SCRAPINGBEE_KEY=${SCRAPINGBEE_KEY}",
        ],
        ..KEYED
    },
];
