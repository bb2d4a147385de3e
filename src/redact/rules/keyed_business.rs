//! Bare values of customers and tasks.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "asana-secret",
        what: "Asana client secret",
        keywords: &["asana"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "ASANA_SECRET=«5bf¦7fe6fcd51a2b9120da0c85f067baa» make release",
            "My Asana client secret («45b¦919837037162095894dc5e175d54a») was rotated.",
            "Notre client secret Asana : «03¦a3ed4b0e101a4b17ac7f2727aec55a»",
        ],
        kept: &[
            "The blob 5b29a70c8d04b84f25a9364b3c56eb4b is a test image.",
            "Asana support wrote about case 7242.",
            "os.environ[\"ASANA_SECRET\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "intercom-token",
        what: "Intercom access token",
        keywords: &["intercom"],
        finder: bare("dG9r[A-Za-z0-9+/]{55}=", 60),
        checks: &[Check::MixedCase],
        found: &[
            "INTERCOM_TOKEN=«dG¦9r8Be1F0fMg058nraNwuyRnzMr6daqrhS0S5aKfdTUhBMTI9x0xaE5cUN=»",
            "For Intercom we use the token «dG¦9r4KF5eO6XQTwduFuqknytuuOy5NlIe2RUcEKUaulLOV+iFZ\
             sjRmBXYHW=», valid until May.",
            "The token of the Intercom account was «dG9r¦EmZotNAcMNinZVofpHJZcerJbT/iDAG/06RaTX\
             YA1rbShxqfWM24QWs=», says Jo.",
        ],
        kept: &[
            "The recording dG9rh6LQZNU8Ps5dvZWs6bIkuNkeihZhKWxFlGp+PmadIMLIIxynrfLIqwt=.wav is \
             in the archive.",
            "Two people at Intercom answered.",
            "intercom_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "zendesk-token",
        what: "Zendesk API token",
        keywords: &["zendesk"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "zendesk_token = «KNip¦e8pZiDcCHCboY4sopkdYSrYXWNxzYHRbIMtJ»",
            "Copy the Zendesk token <«ebv6¦uBBBc4EBuOyGCCTbseGrNF5xZSgAQJnRMHcc»> to the phone.",
            "**Zendesk token**: `«qYT¦GcfYsDzrFPaX3Fgh2bwbp1SUasR4Dzb5cZBLD»`",
        ],
        kept: &[
            "Row csP9t2NYfA0KCS7bOp2z6bx5Wf8lDUrhWWaGxdqZ of the export was empty.",
            "I like Zendesk, but the limits are tight.",
            "Zendesk rejects a token that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "freshdesk-key",
        what: "Freshdesk API key",
        keywords: &["freshdesk", "freshservice"],
        finder: bare("[A-Za-z0-9]{20}", 20),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "set -x FRESHDESK_KEY «rfGU¦u6jbG1Kc401gfckF»",
            "Use the Freshdesk key «9L¦w6CgfX4kdluEou5TWL».",
            "- Freshdesk key «R4¦YkpV70KZeXrQ362dfV»",
        ],
        kept: &[
            "Parcel zEiOOqx6wkugz8aTVbGN arrived.",
            "Ask Mira who owns the Freshdesk account.",
            "FRESHDESK_KEY=${FRESHDESK_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "hubspot-key-old",
        what: "HubSpot API key (old)",
        keywords: &["hubspot", "hapikey"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "* hubspot_key: `«b82a¦73b4-1735-c2bf-47e2-88695edc68b7»`",
            "The HubSpot key is «357e¦f9ed-6fb2-b8d2-af69-1360d43623e8».",
            "HubSpot 的 key 是 «439a¦1bb4-cdb9-aabb-0269-4b36205e8893»。",
        ],
        kept: &[
            "The row c6a377f0-de9b-cfe2-272c-296f0ce162e2 has no parent.",
            "Release 6906 drops support for HubSpot.",
            "The HubSpot key goes into HUBSPOT_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "pipedrive-token",
        what: "Pipedrive API token",
        keywords: &["pipedrive"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "PIPEDRIVE_TOKEN: \"«1986¦3ba8724337accfad9667c428af56127a595f»\"",
            "The Pipedrive token «5c1¦48011589085904fbef6ad0fcfee590fc430b5» is new.",
            "Pipedrive: token \"«5a¦4ec1b08ee19b2a85221e91aeebafa6aa23e047»\"",
        ],
        kept: &[
            "Reverted 7d195c4b77c373ae585641e577cbc81f6f90b1b0 on Friday.",
            "Our Pipedrive contract ends on 2025-11-22.",
            "PIPEDRIVE_TOKEN=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "zoho-client-secret",
        what: "Zoho client secret",
        keywords: &["zoho"],
        finder: bare("[a-f0-9]{42}", 42),
        found: &[
            "zoho_client_secret=\"«c9¦4ef99c9d0b298b7ff2202d7f18ff02b799edf4d0»\"",
            "the client secret (Zoho) → «abfb¦5e37fb419cec365e1f23479ca938bb86ffd27b»",
            "Zoho client secret = «d38¦4683a3fc20d6d54c79e7783fbe6f75b830b99fb», in the vault \
             since June",
        ],
        kept: &[
            "Part eede5673e4f113a9112aa488a51d0ad44367ae795a is out of stock.",
            "The Zoho adapter was built from commit 29c9555757b7856753119c16731f5c1e3198d032.",
            "ZOHO_CLIENT_SECRET=%ZOHO_CLIENT_SECRET%",
        ],
        ..KEYED
    },
    Rule {
        kind: "activecampaign-key",
        what: "ActiveCampaign API key",
        keywords: &["activecampaign", "active campaign"],
        finder: bare("[a-f0-9]{72}", 72),
        found: &[
            "ARG ACTIVECAMPAIGN_KEY=«211¦087661638a7196308a1fb7db0a9ab2d67faa3a401003acfb22a094\
             d406a6318fb5b72»",
            "ActiveCampaign key: «4c0¦5900bc1c2862b57e0a159d2be445a40292c92dbfd557b0e8fcbe8dc2b\
             a4b170cd59f2»",
            "I think the key of our ActiveCampaign test account was «ded¦aa032f20eb69391e8facfaa0f\
             f8abe886539d68c7064033543b7eb08d91d3efa10a39».",
        ],
        kept: &[
            "Build c40b7eb8ebc6d0056831c2feae9ad2309e47a9bbc2a2b9925bb2ebfec15aecfa4aca63d5 \
             passed.",
            "The ActiveCampaign plugin at 0b8200e11f8e4ba3f122e5406c1f0b6f54b6af94 fails on \
             Windows.",
            "the ActiveCampaign key lives in activecampaign_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "attio-key",
        what: "Attio API key",
        keywords: &["attio"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "    attio_key: «79¦b9188f09a9715032923558e7875988d81d4b70f079e64bb258ec02b4a2cd44»",
            "The Attio key is «df¦682e0a2ee8fe09676cf5b965a96f49ccbd0f70ba16de72ddf8c62e373f621\
             9».",
            "Attio accepts the key `«63¦49229d47406aa45c7f0f46a56a55cb56c757b5dbe72945c5a564948\
             471dca8»`, the other one not.",
        ],
        kept: &[
            "The image was sha256:edd7026923bfccbcfe8481ee37249cd7a9bedb2115836884ecfbb20e24b86\
             0c1.",
            "Attio returned 503 for job 4198, then 200.",
            "ATTIO_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "jira-token-old",
        what: "Jira API token (old)",
        keywords: &["jira", "confluence", "atlassian"],
        finder: bare("[A-Za-z0-9]{24}", 24),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "os.environ[\"JIRA_TOKEN\"] = \"«zT¦C7gS6s1fEzXQ78dkou4Zd8»\"",
            "Use the Jira token «yy¦fWMWxOFnU0aU5JIP2SWzac».",
            "Log in to Jira with the token «MKz6¦eS4r38axjKnDoTMwbaXv».",
        ],
        kept: &[
            "The folder eCypAjOX8hVMx6J6ZWJcRBz4 can go.",
            "Jira (plan B) has 2340 rows.",
            "JIRA_TOKEN={{ jira_token }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "trello-key",
        what: "Trello API key",
        severity: Severity::Medium,
        keywords: &["trello"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "\"trello_key\": \"«420¦df24474ad23e1e1739fd3aebe5a1c»\",",
            "Trello key = «c2¦7c5533d3613e1f6447842b3a86f562», in the vault since June",
            "Copy the Trello key <«5cbd¦fb13bf5c6012b62d155786a8a9be»> to the phone.",
        ],
        kept: &[
            "Sum of the dump: e6097d06ee7a50f03130a5a4e67be752",
            "Trello was down from 10:00 to 10:20 on 2024-03-24.",
            "TRELLO_KEY=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "todoist-token",
        what: "Todoist API token",
        severity: Severity::Medium,
        keywords: &["todoist"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "{\"todoist_token\": \"«81¦7fd9d9dc63878d3eda27470bf10459f63fe646»\", \"retries\": \
             3}",
            "Old Todoist token: «c091¦8ca0c491d80f86a630a438336f609410f05e». Delete it!",
            "Todoist wants a token, so I sent «73¦07931b638c755c69c10e4b5048b0388294ee13»; it \
             worked.",
        ],
        kept: &[
            "Bisect says 7b668d2df5db1891603891addc2dc4fc3af3182c broke it.",
            "We moved away from Todoist, see ticket OPS-6059.",
            "TODOIST_TOKEN=YOUR_TODOIST_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "coda-token",
        what: "Coda API token",
        severity: Severity::Medium,
        keywords: &["coda_", "coda "],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "  - CODA_TOKEN=«8c49¦c88a-62ba-a97b-4ac3-1f2c472f776b»",
            "remember the Coda token «971¦70b09-8ab1-0342-4447-4136cdd8b64b»",
            "For Coda we use the token «8e70¦c8ec-9a74-39f0-6ec9-9cb4b8a21e99», valid until \
             May.",
        ],
        kept: &[
            "Device d926aede-e940-faf4-d807-83ab191ff3a0 went offline.",
            "Coda costs more since 2903 users joined.",
            "Where do I find the Coda token?",
        ],
        ..KEYED
    },
    Rule {
        kind: "miro-token",
        what: "Miro access token",
        severity: Severity::Medium,
        keywords: &["miro"],
        finder: bare("[A-Za-z0-9]{27}", 27),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "| miro_token | «qr¦ijebi3MB7It9WgO7RzlSnkN2b» |",
            "the token (Miro) → «Um¦giRp66zpmU472BkTV60bRA0RB»",
            "**Miro token**: `«RD¦ALGi6XwLMfncyGGKKC0pwqi6M»`",
        ],
        kept: &[
            "Look at node DCK4ASh9WcgdkR7XHYJoQZsZbXg in the graph.",
            "Jo set up Miro in room 10.",
            "miro_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "smartsheet-token",
        what: "Smartsheet access token",
        keywords: &["smartsheet"],
        finder: bare("[A-Za-z0-9]{37}", 37),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "smartsheet_token=\"«si¦ZCpCGAjF3dYzD7ybnocclTCBXQt4t5dlVV1»\"",
            "Smartsheet 的 token 是 «XPaL¦3ZI1yYAn4TLbzKr7RDU9rcPszcdx0LoIn»。",
            "| Smartsheet token | «mEl¦s2EAcpymwsTcJY1OQaPTbfzGykx3zRJyUy» | ops |",
        ],
        kept: &[
            "Build bLZZeRLuXZu3CkKeg8iTUFbH0MpL1Ryqeqs1x passed.",
            "The Smartsheet client was upgraded to 4.16.1.",
            "process.env.SMARTSHEET_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "shortcut-token",
        what: "Shortcut API token",
        severity: Severity::Medium,
        keywords: &[
            "shortcut_",
            "shortcut.com",
            "shortcut api",
            "shortcut token",
            "clubhouse",
        ],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "SHORTCUT_TOKEN = '«db1¦4387f-bf2e-3db7-42e3-2fca143eda95»'",
            "- Shortcut token «c52d¦835f-7a27-82d3-5496-3c50ab0c4d59»",
            "Shortcut token: «3407¦e81e-bfe8-6412-2f8d-e4d12fe17660»",
        ],
        kept: &[
            "Order 5844bf41-10c2-9954-d612-33f9e14f7eef was shipped on Monday.",
            "The Shortcut invoice 5246 came to 49 EUR.",
            "SHORTCUT_TOKEN=YOUR_SHORTCUT_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "pivotal-token",
        what: "Pivotal Tracker API token",
        severity: Severity::Medium,
        keywords: &["pivotal", "pivotaltracker"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "pivotalToken := \"«412¦dbb20c2ecd387048d748729a68003»\"",
            "My Pivotal Tracker token («d964¦4f1dcc18e9f41a46b6c4715abe87») was rotated.",
            "The Pivotal Tracker token «844¦1f4ec54e34777e97d30b3a0c6184d» is new.",
        ],
        kept: &[
            "md5sum: e2efedfc33ffe678aa8df5cb2ea8b8a9  backup.tar",
            "Pivotal Tracker (plan B) has 6221 rows.",
            "PIVOTAL_TOKEN=%PIVOTAL_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "clockify-key",
        what: "Clockify API key",
        severity: Severity::Medium,
        keywords: &["clockify"],
        finder: bare("[A-Za-z0-9]{48}", 48),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "# Clockify\nCLOCKIFY_KEY=«IL¦0qsy1hkRg5RwqP7coDWQhqMZKSgtuyXW0lzwKvfsTf3ZH2»",
            "The key of the Clockify account was «Gyy¦0EBQA6YHi6CFmDrEbGiWMYX5GuMrUuioHCQpXLyRI\
             Kepn», says Jo.",
            "The new key for Clockify: «gG¦xAtm0MB5PfkPZ9QMJCLScHmZDPND9hHMl8jf55RKs0qbQ8»",
        ],
        kept: &[
            "Look at node M2g7NIqPlroK9hpRbggs0NmntKvWDZdDWlLrkGfWO5nHV5jN in the graph.",
            "Clockify was down from 10:00 to 10:20 on 2024-03-17.",
            "CLOCKIFY_KEY={{ clockify_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "toggl-token",
        what: "Toggl API token",
        severity: Severity::Medium,
        keywords: &["toggl"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "TOGGL_TOKEN=«e0¦937c3352af2a85c22716e0ce608371» make release",
            "Jo sent the Toggl token by mail: «9e7¦019a7d94279740ca25b9c464c4ab2»",
            "Toggl token: «c5e¦be36bdc688847a58effeae9e33310»",
        ],
        kept: &[
            "The blob 5aef60e8855da8607e8838987418cade is a test image.",
            "Ask Mira who owns the Toggl account.",
            "TOGGL_TOKEN=${TOGGL_TOKEN}",
        ],
        ..KEYED
    },
];
