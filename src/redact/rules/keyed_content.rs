//! Bare values of texts, forms and sites.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "webflow-token",
        what: "Webflow API token",
        severity: Severity::Medium,
        keywords: &["webflow"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "webflowToken: «4dda¦40c1592bbe7f0573bd744d3c9226ed814d267ecf0fb6f5ad4988ee63f84a»",
            "Jo sent the Webflow token by mail: «75a3¦e71fd418d1302ed6efc2589739ca3ea42964ba22a\
             52d912c8549d17efa8e»",
            "The Webflow token «776¦a50c25f31fbc2cef9ced47e5db13b5fa6b4da1a894900036c817e173d7d\
             e6» is new.",
        ],
        kept: &[
            "Block b10305d8465280b604fd00b4e7ed0c99706e3e1eb5ec5d5ded4fe1d5da3330bf was \
             orphaned.",
            "The Webflow client was upgraded to 4.28.1.",
            "WEBFLOW_TOKEN=changeme",
        ],
        ..KEYED
    },
    // Longer than any shape beside it, so the range stays in the core.
    Rule {
        kind: "sanity-token",
        what: "Sanity API token",
        keywords: &["sanity"],
        finder: bare("sk[A-Za-z0-9]{80,180}", 182),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "const sanityToken = \"«sk¦JEzRCHj0pq8QFBSPVmcrDSk5R210yGljCkfJhQZr9HaEOfRPbGMsqgze\
             sMZUFBF431pTBe8MtYlpBAq6»\";",
            "I think the token of our Sanity test account was «skVD¦eGPvpGB4VZc81jt4SQ65a2vc0IsvK4\
             6dVZtVNDpKMQIXpRAvcjWBFeyuy9Dn9tbAk2MaNAsWhn9NSI».",
            "The token of the Sanity account was «skU¦J1nMCP32eNiX0KeA92tTfF1kSEK9kTSrI5V3UF0AM\
             o8sKnd888aTgfy6rMKQ5bck1GgHL3JkOLSwgdWLCrHL6JXCT», says Jo.",
        ],
        kept: &[
            "Part skwhRJOytqW674FLKwB4IRtkKlqzoFZbO6b5m7Elyj2QXfWuvr0LkTmg5TrpQUvOqLmJucpsCUCp9\
             7KrhvtNXMfj3 is out of stock.",
            "Sanity support wrote about case 3513.",
            "Sanity rejects a token that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "storyblok-token",
        what: "Storyblok API token",
        severity: Severity::Medium,
        keywords: &["storyblok"],
        finder: bare("[A-Za-z0-9]{22}tt", 24),
        checks: &[Check::MixedCase],
        found: &[
            "os.environ[\"STORYBLOK_TOKEN\"] = \"«1agE¦THVFMgl1ZpIs9Fi4Dqtt»\"",
            "Notre token Storyblok : «863¦8k1bWM0lbPRQW3TabrRtt»",
            "Log in to Storyblok with the token «ph¦VTwOeVsbDly9o5gFPgmqtt».",
        ],
        kept: &[
            "The recording l1u5vA3Cd2PAFtJnRS4vBntt.wav is in the archive.",
            "The Storyblok page 8232 shows the numbers.",
            "the Storyblok token lives in storyblok_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "datocms-token",
        what: "DatoCMS API token",
        severity: Severity::Medium,
        keywords: &["datocms"],
        finder: bare("[a-f0-9]{30}", 30),
        found: &[
            "ARG DATOCMS_TOKEN=«9b93¦728a6e921c38307c266aba2094»",
            "Old DatoCMS token: «d7¦62213ea93d5494e63d60d059ab2b». Delete it!",
            "**DatoCMS token**: `«4c¦73ce3300bb8e32f57490fa272815»`",
        ],
        kept: &[
            "Parcel d9557cddb36b8a17bf057237e5351c arrived.",
            "Jo set up DatoCMS in room 23.",
            "os.environ[\"DATOCMS_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "strapi-token",
        what: "Strapi API token",
        keywords: &["strapi"],
        finder: bare("[a-f0-9]{256}", 256),
        found: &[
            "export STRAPI_TOKEN=«508¦860bcb5cae09997ccdec4c8502404da2852680744220d397928600c88\
             d6b021da0c2260b65edfd0a65157dbc69e6cdd603dcef96974c4343f6b3b704923125f1fb61f64e0be\
             74fbf9a5bd2eb7fb4a5fb1d356a70bc8ad04fba550ba0e6a118f71692c47fa58958451aad453df60c3\
             b316b6060db831be91f0cd5725399440»",
            "Strapi 的 token 是 «04¦4811efe79778288333cc52097613b56c4e736b45f0a230a9b9a6e6e5a3647\
             85b655279bfd4228d0a4a946134d02caaa411969c16a52ecc5040e6655c9fb23cf56bcf27a7cc70432\
             6537d020d615d8253ec67d429a73bf4da483ac95673abfe9ed6a90cfef0b7914df14643cab697e9d4f\
             23261c5812f03221eb97b7dc1ca7d»。",
            "The new token for Strapi: «22d¦ec7a646fa997262f6c4e26da582de58b0b8b85a7aaac975a2e9\
             c13875e88c15186c0cf81a95c146a5c7bb7299cd7cf5901e7a7445d01d40b68c29aead884466acac00\
             25de8109bda51b173f4f3100cb4920862f6455d718530ff639163f405bea6172fe5fff9fb60f6b8248\
             646274506a25da150bc06a8b0aefe25fdad6f8»",
        ],
        kept: &[
            "Row 5106baebce6e482f60a6de34b604224a334e13d4f38e0d879224240849ad3236762e09701a4da7\
             744d061c74b39891b875f43c120b5e9646bbce757125a033e077adde59820d8ad3dde464d48d8fbba1\
             649336d5ed93ea0a4e6aec7d400e4f60f0cb8a17ed327a5e47f0f2b2efe15fc6aefcc3bb191bbddc5c\
             537ce2d193fb91 of the export was empty.",
            "Release 1587 drops support for Strapi.",
            "Strapi token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "ghost-admin-key",
        what: "Ghost admin API key",
        keywords: &["ghost"],
        finder: bare("[a-f0-9]{24}:[a-f0-9]{64}", 89),
        found: &[
            "let ghost_admin_key = \"«f3fe¦7d18c678693ac2d06edc:509796b5c29c1c6545fc0b35c0d3f07\
             b23149ec0551dbf16a59fb6103838580c»\";",
            "Ghost wants a key, so I sent «9d¦8758a47541f00699d9f961:38776b9ab6c2ecb8dfca6a1d93\
             fd454e93f0af5a1c2364648b61698435958aea»; it worked.",
            "remember the Ghost key «ad68¦7d48740568dc44c3b474:e8096e48b079c6d9ece27d6ffc24a5ec\
             d9c78197f4f7be00754786c9aec6c53e»",
        ],
        kept: &[
            "The folder e7d8f8e4230a4ed318cd95d2:16518e0ecc4d4e433f370f9ccca0e0f889c185c86ebb03\
             c44eb21ade192becdc can go.",
            "The Ghost adapter was built from commit 8ba48e9451eef2f3a623b52475fa11f55f85f9bd.",
            "GHOST_ADMIN_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "discourse-key",
        what: "Discourse API key",
        keywords: &["discourse"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "set -x DISCOURSE_KEY «dc¦b24d1a8b779500323ce68eab6c53cc0afaa690ddd36a08102a6f6a665\
             30864»",
            "Discourse key = «eb¦c6adf349eebe475c2ced93ee5d23c339149aa81317f978b2f324e5fd0e6b9d\
             », in the vault since June",
            "Discourse accepts the key `«dc1¦4c6004502bae4eed9c20315b0dc823ca75f006714b085150cb\
             1d79ae2c991»`, the other one not.",
        ],
        kept: &[
            "The layer ebffc436e5962bc3a675cc6026f3b49d5443eebaa5b83960fefd29d33c008820 is 40 \
             MB.",
            "I like Discourse, but the limits are tight.",
            "The Discourse key goes into DISCOURSE_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "disqus-secret",
        what: "Disqus API secret",
        severity: Severity::Medium,
        keywords: &["disqus"],
        finder: bare("[A-Za-z0-9]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "DISQUS_SECRET=«2En¦nFVIc9jwbt0T10Bu4lGQRQDim1CUNDgGRXAxaBdlkSGOR5Ks6ouT6uGqPCxra»",
            "the secret (Disqus) → «oa¦slFuZFJ9iEPkzv1j5uvDBgCFDOhQPHSY0VWWUwXXdg5l02jjtQZ6dePq\
             lrrjl1»",
            "Copy the Disqus secret <«PzS¦dT008S6dr2l85f1mYCAjFMm9UzCmuSqk7enReVMfQuvpy23iho4ju\
             3kcdY9qG»> to the phone.",
        ],
        kept: &[
            "Row 2DPgyjCCrWfybNZHeUbzQ8GQu5PbyVxbjbtsSk4TouMssUbN0F8pFEe2XHI6M72W of the \
             export was empty.",
            "The Disqus plugin at 7eb4ec623a29f8607b12a49dfb17660b020e3567 fails on Windows.",
            "DISQUS_SECRET=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "contentful-delivery",
        what: "Contentful delivery or preview token",
        severity: Severity::Medium,
        keywords: &["contentful"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "CONTENTFUL_DELIVERY_TOKEN: \"«4kYi¦8XauIHYqh5fCSfWZFxzL8MchPQ4MP5aNKEYYmHo»\"",
            "My Contentful token («owj¦gqjJ9W06-uv7IQxDV6xXCqKyNXWY4eVET-j5c33m») was rotated.",
            "For Contentful we use the token «1d0¦sv4IYIwzk-Vh5YRxqYTmLZ92O2hF1fqlJrWlvKX3», \
             valid until May.",
        ],
        kept: &[
            "Parcel LXSvwUN-7FDvT1ZpOoB19hb1g2pafvdeGnI-z1mxPQT arrived.",
            "Contentful returned 503 for job 3507, then 200.",
            "Where do I find the Contentful token?",
        ],
        ..KEYED
    },
    Rule {
        kind: "squarespace-key",
        what: "Squarespace API key",
        severity: Severity::Medium,
        keywords: &["squarespace"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "* squarespace_key: `«2279¦c8a3-da70-e420-2a79-a5f98cde11b7»`",
            "- Squarespace key «a0¦13cfd7-da72-c158-010e-7e938c4a0383»",
            "Use the Squarespace key «13¦de6ae3-a93f-fcbf-fe9e-3f3d37467a5c».",
        ],
        kept: &[
            "Order 9c9ee183-75a2-029e-4de7-9a645c794835 was shipped on Monday.",
            "The talk about Squarespace starts at 10:19.",
            "SQUARESPACE_KEY={{ squarespace_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "freshbooks-token",
        what: "FreshBooks access token",
        keywords: &["freshbooks"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "\"freshbooks_token\": \"«435d¦29ec5558f7a61fb0fa062726ecb59e31c3d6a82147b42b58bdce\
             59e6c042»\",",
            "The FreshBooks token is «ea¦f7dac1619981768839dccc455ea28de9f37eeca6939d57c3ec4fbd\
             a09f3b2f».",
            "| FreshBooks token | «5a¦c4b45506d6503a27d708af8cb88be311c755309623837fd11054fb012\
             b40be» | ops |",
        ],
        kept: &[
            "SHA-256 of the release: 700bc7d6ea2655b5dbf0258b8918732851c56f41a4dc3097ceea064ca5\
             3186a8",
            "We moved away from FreshBooks, see ticket OPS-3229.",
            "FRESHBOOKS_TOKEN=${FRESHBOOKS_TOKEN}",
        ],
        ..KEYED
    },
    Rule {
        kind: "jotform-key",
        what: "Jotform API key",
        severity: Severity::Medium,
        keywords: &["jotform"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "{\"jotform_key\": \"«dcc7¦4700ba00fb7356390ee94082e866»\", \"retries\": 3}",
            "Jotform: key \"«274¦b4c6b5c245ab95efc1d4e08d71fe1»\"",
            "Jotform 的 key 是 «1f¦0865194853fe2ba10429ac3bfd8d10»。",
        ],
        kept: &[
            "ETag ddcbc14962a77a36f397094c440499f1 did not change.",
            "Jotform costs more since 7967 users joined.",
            "The Jotform key goes into JOTFORM_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "calendarific-key",
        what: "Calendarific API key",
        severity: Severity::Low,
        keywords: &["calendarific"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "    calendarific_key: «92¦c616925b92c94b66b497bac86ffd8a4be77939»",
            "My Calendarific key («9d5¦64bd2eeda00f0967bc7c42c6a06fa09013f3b») was rotated.",
            "Calendarific: key \"«ce3¦9c4af9e8f8b0b05e9d8f8af15cb17a14805f6»\"",
        ],
        kept: &[
            "git show 132441860a6a83428214035990d14aa338da925d",
            "The Calendarific invoice 3454 came to 49 EUR.",
            "process.env.CALENDARIFIC_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "apollo-key",
        what: "Apollo.io API key",
        severity: Severity::Medium,
        keywords: &["apollo", "apolloio"],
        finder: bare("[A-Za-z0-9_-]{22}", 22),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ENV APOLLO_KEY «mKG2¦wOKUJWMzKsKqe6pohT»",
            "The new key for Apollo.io: «2c¦URkQw4wMqevH74G8XoEc»",
            "remember the Apollo.io key «2m¦bEzfnGFbbX0GAaGisb96»",
        ],
        kept: &[
            "Part DFlm_edCIhPsKDx1yybo9g is out of stock.",
            "Our Apollo.io contract ends on 2025-11-23.",
            "Apollo.io rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "wordpress-app-password",
        what: "WordPress application password",
        keywords: &["wordpress", "wp_app", "wp-json"],
        finder: bare("[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){5}", 29),
        checks: &[Check::Digit, Check::MixedCase],
        found: &[
            "let wordpress_app_password = \"«bf¦p4 xRp3 FKXm EBwX pXTN Jb3D»\";",
            "Use the WordPress application password «2zb¦Q Elmc OqCw bznp 159t sKFh».",
            "The WordPress application password is «xQwO¦ MPr1 avTL YqU8 gYuf DOI9».",
        ],
        kept: &[
            "The recording arOb KVG2 Tp2Z aJWb Zp2j p8dD.wav is in the archive.",
            "Two people at WordPress answered.",
            "WORDPRESS_APP_PASSWORD=xxxx xxxx xxxx xxxx xxxx xxxx",
        ],
        ..KEYED
    },
];
