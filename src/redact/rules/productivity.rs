//! Where people work: issues, notes, tables, design, customers.

use super::{MARKED, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "linear-key",
        what: "Linear API key or OAuth token",
        literals: &["lin_api_", "lin_oauth_"],
        finder: shape("lin_(?:api|oauth)_[A-Za-z0-9]{40}", 50),
        found: &[
            "li¦n_api_xRqbS7lUOKrRXFeyZ1A14PQlMD4nxU6D9DnZxQ87",
            "const linearKey = \"«li¦n_api_4fYaidQmpS36bbeqXUSOMxTl8ylm9X6ZWYlEnkNo»\";",
            "- [ ] revoke «li¦n_oauth_JgdAReE0IWKdPff8wkCIxkzRST65zy8KEGEZyirz»",
        ],
        kept: &[
            "linear_key: lin_api_<yours>",
            "\"lin_api_\" => \"Linear\",",
            "The list had lin_api_GfA7 (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "notion-token",
        what: "Notion integration token",
        literals: &["ntn_", "secret_"],
        finder: tailed(
            "(?:ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43})",
            50,
            Tail::Exact,
        ),
        checks: &[Check::MixedCase],
        found: &[
            "ntn¦_97729318462gX1V1CAV6xOy5M4KJgReAgxw1Eza9cGwkg2",
            "NOTION_TOKEN=«nt¦n_75974818055aIdDnmjjoXt7VnAQdTwfyd7YTyz3sF8RUlg»",
            "\"«ntn¦_17513174543ZAWRExO8wk1xXzpFlPcip4auqTNcZTr6uph»\" is what Notion sent \
             back.",
        ],
        kept: &[
            "cp .env.sample .env  # NOTION_TOKEN=ntn_12345678901xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxx",
            "Nothing in the dump has ntn_ in it.",
            "Only ntn_198Mn was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "figma-token",
        what: "Figma personal access token",
        literals: &["figd_", "figu_"],
        finder: shape("fig[du]_[A-Za-z0-9_-]{38}", 43),
        found: &[
            "figd¦_IXejSa5VTkJK0xT-tJggny9H0KTRxi3G-KjVoCab",
            "| Figma | `«figd¦_DEwxroZl_pzwyDw8WxMW9j7P9dMu9yGDzKpqtV5S»` | staging |",
            "Is «fig¦d_7K06D4JsrYv9X4kgpailqmA6u51y0dnJlAL9orND» still in use?",
        ],
        kept: &[
            "figma_token: \"figd_…\"",
            "| Figma | `figd_` | prefix |",
            "Figma prints figd_HXEFYi*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "airtable-pat",
        what: "Airtable personal access token",
        literals: &["pat"],
        finder: shape(r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", 82),
        found: &[
            "pa¦tQmOUlMSWlTHSTr.5916af3d839624364ef36b4bf50c3586c31a12bfb71cc72602c7ed3a8fcb110\
             d",
            "let airtable_pat = \"«pa¦tnGaJUqliala7ly.d3c34790d4c7efb8d8ef4392408534c9387f5649a\
             d2425519b4c0148451361f1»\";",
            "See <«pa¦tJWMVKWAo59pJ19.9e5433aed0a5e10470d5ab5c08f7b3b2608b9900d75640be3420a96f8\
             bd97c76»> for Airtable.",
        ],
        kept: &[
            "AIRTABLE_PAT=patxxxxxxxxxxxxxx.1234567890abcdef1234567890abcdef1234567890abcdef123\
             4567890abcdef",
            "if value.starts_with(\"pat\") { return Some(Vendor::Known); }",
            "pattern.matches, path.join and patch.level are code",
        ],
        ..MARKED
    },
    Rule {
        kind: "hubspot-app",
        what: "HubSpot private app token",
        literals: &["pat-na1-", "pat-na2-", "pat-na3-", "pat-eu1-", "pat-ap1-"],
        finder: shape(
            "pat-(?:na|eu|ap)[0-9]-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
            44,
        ),
        found: &[
            "pat-¦ap1-799bAbB8-4BEc-2D2E-CCb1-62aa42555e70",
            "hubspotApp := \"«pat-¦na3-EfFc72Bb-5939-5bfD-fA22-bAa8BbCC2919»\" // see the wiki",
            "1. Copy «pat-¦ap1-bcf8BEEa-3c0A-267B-555a-a509A4DfC6Bd»\n2. Open HubSpot\n3. \
             Paste it",
        ],
        kept: &[
            "e.g. pat-na1-12345678-1234-1234-1234-1234567890ab",
            "`pat-na1-` is how HubSpot marks its own.",
            "HubSpot answers: bad value pat-na1-13Ofwl…",
        ],
        ..MARKED
    },
    Rule {
        kind: "postman-key",
        what: "Postman API key",
        literals: &["PMAK-"],
        finder: shape("PMAK-[a-f0-9]{24}-[a-f0-9]{34}", 64),
        found: &[
            "PMAK¦-0904544adc59b14f8e13ce7a-ab3be60540e3aa24b5ba9d0d2eb5db2add",
            "* POSTMAN_KEY: `«PMAK¦-a31ccc802fb3127d0d1b3014-0c3c7a08f09ecf4d964fb42fc3e0c34fcc\
             »`",
            "«PMAK¦-6181f2b478cc038500119cf3-d94e18d8b07e7ef6ea67851721c4129708»，来自 Postman。",
        ],
        kept: &[
            "PMAK-<paste the rest>",
            "Postman documents the PMAK- prefix.",
            "It ended up as PMAK-11f44f... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "contentful-pat",
        what: "Contentful personal access token",
        literals: &["CFPAT-"],
        finder: shape("CFPAT-[A-Za-z0-9_-]{43}", 49),
        found: &[
            "CFP¦AT-Pkszva7yjyTqc1ZEflCtI9hKDqfSiwXzbbBczcKalY5",
            "echo '«CF¦PAT-UsOif2-LxNKp-iDTcKCUY6L4Bio5YxjS8BIelfJO6X4»' > /run/contentful-pat",
            "Contentful answers 401 unless «CFP¦AT-tk9G27h33m-iO4PYQ7zDBS_A8CPBmH-ZiXdLLNm3bPd\
             » is sent.",
        ],
        kept: &[
            "CFPAT-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What Contentful hands out begins with CFPAT- these days.",
            "Masked: CFPAT-ZIqZz****",
        ],
        ..MARKED
    },
    Rule {
        kind: "typeform-token",
        what: "Typeform personal access token",
        severity: Severity::Medium,
        literals: &["tfp_"],
        finder: tailed("tfp_[A-Za-z0-9_.=-]{40}", 44, Tail::Dotted),
        found: &[
            "tfp¦_0pIY-uSMmm-9VV-KYgERAIBOKwpn74FphbWtDqn_6fYTbWSUyzkG2yf",
            "ENV TYPEFORM_TOKEN «tfp¦_S3RxwMftG7fFJ7_=i0_0xd.ytCgrxtx1XECfNrxv8D4x2Gu93kT02ov»",
            "Memo: «tfp¦_f_QCY0JAuxwcGSds-bQp6AClAi8oko92zwcY3N87bJzR1M5KO6bPB0M» (from \
             Typeform, made in spring)",
        ],
        kept: &[
            "TYPEFORM_TOKEN=%TYPEFORM_TOKEN%",
            "The linter looks for `tfp_` at the start of a word.",
            "In the mail I could read tfp_6w9Xj and then a smudge.",
        ],
        ..MARKED
    },
    Rule {
        kind: "salesforce-session",
        what: "Salesforce session id or access token",
        severity: Severity::Critical,
        literals: &["00D"],
        finder: tailed("00D[A-Za-z0-9]{12}![A-Za-z0-9._]{80}", 96, Tail::Dotted),
        found: &[
            "00¦DIgEHYCOdnB0d!EyVGSugTGBEa2a6DkAIfDwfx3WUhhCh8iTEnbqYNvU_YaZ6cC8g_OPz_8w37annku\
             ngEYAKOWYHayEJPCZetZkbVHLGBs6xj",
            "put(\"salesforce_session\", \"«00¦DhYX20FIt0s1m!uPY4T1R4K8HLuNi5dcicY7ACMcZ2u15GFX\
             hY5tSj8qFzwIWhL6KVjti5KvGj9eB.gt_faeVDvid6PbQu3iOcYdOhCLBHPaZt»\")",
            "For Salesforce log in with «00¦DuWQdNUy72690!CCjYcwfN6JC7iVDnpc1sfdtpUg6LnDWtllZwU\
             7Pja0w1kYSCsnxdCmiMnrL9yHSvY2TQVegsiFlmfbq3eip524hn4NJMSQVm», not with the old \
             one.",
        ],
        kept: &[
            "os.environ[\"SALESFORCE_SESSION\"]",
            "Salesforce: the ones with 00D",
            "Row 7: 00DTrAdM…",
        ],
        ..MARKED
    },
    Rule {
        kind: "salesforce-refresh",
        what: "Salesforce refresh token",
        severity: Severity::Critical,
        literals: &["5AEP861"],
        finder: tailed("5AEP861[A-Za-z0-9._]{80}", 87, Tail::Dotted),
        found: &[
            "5AE¦P861lSGPSeZL6HAG0Na6EEUG4Qunu12tg7GanxIRYK4vVp4NFwASIcIUsKH0CrlgAIdv09ugWe7__K\
             KN4QvQ",
            "ARG SALESFORCE_REFRESH=\"«5A¦EP861YUHexEkwzDVSQ5fu8jlYTR2sXipoLCHNRx3rx.l8BgH9rHdj\
             efFlcS8wKHM8MW3JazFoy1s97TFhY5zv»\"",
            "Mira wrote: 'take «5A¦EP861gLyxEjKrayKQD7FnySM14jhxjpfdBSDIsBxUvx2DO3VMcdnToOAyt2s\
             f.RkTgD0GdcvSl.ae6vdm1cBR»'.",
        ],
        kept: &[
            "5AEP861... goes here",
            "Salesforce changed to the 5AEP861 form last year.",
            "typed 5AEP861qGt, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "trello-token",
        what: "Trello token",
        literals: &["ATTA"],
        finder: shape("ATTA[a-f0-9]{64}[A-F0-9]{8}", 76),
        found: &[
            "ATT¦Aa791c9ee27eb2a280e70cac86f3b8b8043f3cbc608d63d57fbbbd1f2e95b32d4F16DA857",
            "trelloToken: '«ATT¦A44f09dd642f820c6a9119b84052b6a3276a9ba840acfb0d948bbe47b883fe4\
             5c10F0450F»',",
            "Old: «ATT¦Ab7b9ac8fb267ce6601ccc5a13a5a097f7a2d7733d14486dca909deee039b39e8D9E0043\
             2»; the new one comes on Monday.",
        ],
        kept: &[
            "ATTA****************",
            "A value with ATTA in front comes from Trello.",
            "ATTA63998 is too short for Trello.",
        ],
        ..MARKED
    },
    Rule {
        kind: "clickup-token",
        what: "ClickUp personal token",
        literals: &[
            "pk_1", "pk_2", "pk_3", "pk_4", "pk_5", "pk_6", "pk_7", "pk_8", "pk_9",
        ],
        finder: shape("pk_[0-9]{6,9}_[A-Z0-9]{32}", 45),
        checks: &[Check::Digit],
        found: &[
            "pk¦_278896346_5CJWWF9KROLUVPH2E7M200E428ZLDXO9",
            "with:\n  clickup-token: «pk_¦3791669_UHN4G7T4402FN7FTIMI9BTJ25YTHC5AD»",
            "请用 «pk_¦948539_4X51KXDEBGKHGX83WHA5TLJ8GD3QHKAI»。",
        ],
        kept: &[
            "CLICKUP_TOKEN=<your ClickUp value>",
            "case pk_*) echo ClickUp ;;",
            "The screenshot ends at pk_fonkqK",
        ],
        ..MARKED
    },
    Rule {
        kind: "evernote-token",
        what: "Evernote developer token",
        literals: &["S=s"],
        finder: tailed(
            "S=s[0-9]{1,4}:U=[a-f0-9]{1,10}:E=[a-f0-9]{10,12}:C=[a-f0-9]{10,12}:P=[a-f0-9]{1,4}:A=[A-Za-z0-9_-]{1,40}:V=2:H=[a-f0-9]{32}",
            139,
            Tail::Exact,
        ),
        found: &[
            "S=¦s490:U=2e2909:E=18685808296:C=17192cb5439:P=1cd:A=acme-ci:V=2:H=4c3c47ac4b8217c\
             da14b4652a0db1be4",
            "$env:EVERNOTE_TOKEN = \"«S=¦s475:U=fb2e2a:E=1826c3c1a36:C=1729fc64f46:P=1cd:A=acme\
             -ci:V=2:H=6b9a23a1836f0b38fe4526dc19a63b2c»\"",
            "It was a Evernote one («S=¦s25:U=0eabd7:E=18ff76fa561:C=1758e72ab2a:P=1cd:A=acme-c\
             i:V=2:H=621c972515bae3c4c8e8fc63d1ab8e7f») all along.",
        ],
        kept: &[
            "EVERNOTE_TOKEN=S=sYOUR_VALUE_HERE",
            "The S=s ones belong to Evernote, ask them.",
            "typed S=sc5075, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "zoho-token",
        what: "Zoho access or refresh token",
        literals: &["1000."],
        finder: tailed(r"1000\.[a-f0-9]{32}\.[a-f0-9]{32}", 70, Tail::Exact),
        found: &[
            "100¦0.54e8e1155266cc3ff7dbe6785b815280.4ab4e43a7f4c70e2bb80ce4a94acfb9e",
            "| name | value |\n|---|---|\n| zoho_token | \
             «1000¦.d8c02cf9d73c7c429b792bd431a8a7d6.ef580bfd995b46226e4aa797d2918d3e» |",
            "- [ ] revoke «100¦0.a82f8078ca01e68171711d18f2214944.82f051ce97a2dacc94ca89017165e\
             275»",
        ],
        kept: &[
            "zoho_token: 1000.<yours>",
            "We filter on 1000. (that is Zoho).",
            "It cost 1000.50 euros.",
        ],
        ..MARKED
    },
    Rule {
        kind: "teamwork-key",
        what: "Teamwork API token",
        severity: Severity::Medium,
        literals: &["tkn.v1_"],
        finder: tailed(r"tkn\.v1_[A-Za-z0-9+/]{60}", 67, Tail::Base64),
        found: &[
            "tkn.¦v1_wJZtmso0qvhyIUrSnk2KksVAYr0EoT4QUrsZcjqZBE/xwYxvK3ZXGTRoXW/hv5vLgsvRFJC",
            "# .env\nPORT=8080\nTEAMWORK_KEY=«tkn.¦v1_eiAKfMEi877rtIhvSH+tRsdf3WcfsB+0S7Wiw5WKs\
             0lt1nK0T9q799RjRj5mqAQDcqg0tKZ»\nLOG=info",
            "Teamwork answers 401 unless «tkn¦.v1_wYW6Vdskz2mW0deHTKNyzh1iNXYU6fl/l8cFkuUc2GBfY\
             tut43OQeq4vRlOjyn9LQQOhSWu» is sent.",
        ],
        kept: &[
            "\"teamwork_key\": \"tkn.v1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxx\"",
            "Is the part after tkn.v1_ random?",
            "Masked: tkn.v1_5Rbuv****",
        ],
        ..MARKED
    },
    Rule {
        kind: "calcom-key",
        what: "Cal.com API key",
        severity: Severity::Medium,
        literals: &["cal_"],
        finder: shape("cal_(?:live_)?[a-f0-9]{32}", 41),
        found: &[
            "ca¦l_live_93d05aea301d8f02e30abb58dfbf80f5",
            "curl -H \"X-Api-Key: «cal¦_live_3e1f67f7137a7130fcdf2b031e054182»\" \
             https://api.internal.test/v1",
            "La clé de Cal.com était «cal¦_live_08fbe0fba6ebfb2e988222486d66e578». À changer.",
        ],
        kept: &[
            "CALCOM_KEY={{ calcom_key }}",
            "Strings with cal_ are new, the others are old.",
            "Row 7: cal_3b67…",
        ],
        ..MARKED
    },
    Rule {
        kind: "asana-pat",
        what: "Asana personal access token",
        literals: &[
            "0/1", "0/2", "0/3", "0/4", "0/5", "0/6", "0/7", "0/8", "0/9", "1/1", "1/2", "1/3",
            "1/4", "1/5", "1/6", "1/7", "1/8", "1/9", "2/1", "2/2", "2/3", "2/4", "2/5", "2/6",
            "2/7", "2/8", "2/9",
        ],
        finder: tailed(
            "[012]/[0-9]{10,20}(?:/[0-9]{10,20})?:[a-f0-9]{32}",
            76,
            Tail::Exact,
        ),
        found: &[
            "2/¦1281561257319476/1544692998923357:fe1c05e44bb459cb65e29390a15b3b06",
            "[default]\nasana_pat = «2/¦1182963362337736/1199233383284976:44761392b711e1e9e4e06\
             3aa20e1b970»\nregion = north",
            "We use two at Asana: «2/¦1983754125842825/1428942379435974:8d8405457849be74f8622a6\
             d39463ac4», and one more for tests.",
        ],
        kept: &[
            "`3/1123456789:1234567890abcdef1234567890abcdef` in the docs",
            "Search the logs for 2/1 and tell Asana.",
            "The ratio was 2/1 on 1/12/2024.",
        ],
        ..MARKED
    },
    Rule {
        kind: "readme-key",
        what: "ReadMe API key",
        severity: Severity::Medium,
        literals: &["rdme_"],
        finder: shape("rdme_[a-z0-9]{70}", 75),
        found: &[
            "rdme¦_qmy62qzq043ppizb6hchu3rgnkexbrucd70h93joeu712s7hyzkbuaiy7yah1pg1k697uk",
            "readme-key = \"«rdme¦_b1domv1kfnnzhdp0fujzwztt5ftyqu0gdoyuahs378cig7u6p0v1dguscvt6\
             8q6yshjg1i»\"",
            "(staging) «rdme¦_s19lrsfrncd8pajxydot799tg03udec53jn28d28vg7z5auv0qk052y24b03fy6ay\
             uyxhq»",
        ],
        kept: &[
            "process.env.README_KEY",
            "# rdme_ -> ReadMe",
            "ReadMe answers: bad value rdme_MgTMkG…",
        ],
        ..MARKED
    },
    Rule {
        kind: "gitbook-token",
        what: "GitBook API token",
        severity: Severity::Medium,
        literals: &["gb_api_"],
        finder: shape("gb_api_[A-Za-z0-9]{40}", 47),
        found: &[
            "gb_¦api_FClYVlq0PHOeLKes2AhsiiyGlTZbrDalkXUO9Fnq",
            "GITBOOK_TOKEN=«gb_¦api_hr17oogDk62mSGwo5t0v92YnDey4yvBCyEFdPMMf» make release",
            "Use «gb_¦api_1dDO5jNGcPSz507mEUDmVmNFzc0smlk3PzUoIb5g». It works from the office \
             too.",
        ],
        kept: &[
            "gitbook_token: gb_api_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "What does gb_api_ stand for?",
            "GitBook prints gb_api_Tiau*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "retool-key",
        what: "Retool API token",
        literals: &["retool_01"],
        finder: shape("retool_01[a-z0-9]{24}", 33),
        checks: &[Check::Digit],
        found: &[
            "re¦tool_01e05r0o5cfqxs36zn3yk2ocat",
            "<retoolKey>«re¦tool_01rwug7jj1z332d8nqictahl4r»</retoolKey>",
            "\"«reto¦ol_01wxt89wy2z057jkzvlotjp4bp»\" is what Retool sent back.",
        ],
        kept: &[
            "The sample has retool_01xxxxxxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "Everything from retool_01 on is cut by the console.",
            "It ended up as retool_01s1wKe6... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "n8n-key",
        what: "n8n API key (old)",
        literals: &["n8n_api_"],
        finder: shape("n8n_api_[a-f0-9]{40}", 48),
        found: &[
            "n8n_¦api_c5219afbf2a6b43602bac24c18c4891dd3f832cdf24aeae93809fac8b85c1fe4961dd8587\
             86788a5",
            "printf %s «n8n¦_api_b154d67e52cbedb662d91cdc718fea6ab46177f572a3dab045103332781a5f\
             5668c72f5bf516857d» | pbcopy",
            "Set it to «n8n_¦api_2da24c7fe9a5cedac235f846efda4b0e912f4bcef4073c291b2006c9f95332\
             5537438ea1ac23887e»; then restart the worker.",
        ],
        kept: &[
            "N8N_KEY=%N8N_KEY%",
            "return s.startsWith('n8n_api_');",
            "The screenshot ends at n8n_api_a29",
        ],
        ..MARKED
    },
];
