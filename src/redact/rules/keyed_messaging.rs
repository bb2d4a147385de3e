//! Bare values of messages and calls.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "twilio-auth-token",
        what: "Twilio auth token",
        severity: Severity::Critical,
        keywords: &["twilio"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "os.environ[\"TWILIO_AUTH_TOKEN\"] = \"«d06¦35b8c635f5825eec550fc9ecaa786»\"",
            "The Twilio token is «6e¦59ea832dc744402e0b5549f444fa95».",
            "Twilio token: «29f¦d01fb6be6b6c905739cc6dc44489c»",
        ],
        kept: &[
            "The blob 21b1b260f8b3c77a514334f81e4c6bb4 is a test image.",
            "I like Twilio, but the limits are tight.",
            "TWILIO_AUTH_TOKEN=YOUR_TWILIO_AUTH_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "messagebird-key",
        what: "MessageBird access key",
        keywords: &["messagebird", "bird_"],
        finder: bare("[A-Za-z0-9]{25}", 25),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "MESSAGEBIRD_KEY: \"«DdgV¦lcTHoyFA0ZULFItjJME1K»\"",
            "The key of the MessageBird account was «sW¦z5yrecclHifABxrXczMtW4r», says Jo.",
            "Old MessageBird key: «Aezi¦4aL6RSXIlpM0iL9oQPH6G». Delete it!",
        ],
        kept: &[
            "The folder fV4LYU0Luc5RZQyPWg8xAk1Rx can go.",
            "Our MessageBird contract ends on 2025-11-15.",
            "MESSAGEBIRD_KEY=%MESSAGEBIRD_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "vonage-secret",
        what: "Vonage API secret",
        keywords: &["nexmo", "vonage"],
        finder: bare("[A-Za-z0-9]{16}", 16),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "const vonageSecret = \"«yQ¦bfkwkQfK0Pn0RJ»\";",
            "Notre secret Vonage : «avB¦aq0JpOHm3E4Ov»",
            "Copy the Vonage secret <«c2¦saYhajrbveMn4b»> to the phone.",
        ],
        kept: &[
            "Part 7cOp8bpq8ZYDqqWh is out of stock.",
            "Ask Mira who owns the Vonage account.",
            "The Vonage secret goes into VONAGE_SECRET.",
        ],
        ..KEYED
    },
    Rule {
        kind: "plivo-token",
        what: "Plivo auth token",
        keywords: &["plivo"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "plivoToken := \"«2bk¦pvzB3NnUCsFwQ6gDpqYmCwh9VQnZgCtdHoevX»\"",
            "I think the token of our Plivo test account was «70AN¦IxFGy0oevCpzYkygZRTK4quubfn8bQ5\
             8dQqb».",
            "Log in to Plivo with the token «f50¦10AST2jy6XHjgkv6g9Tqepjb6a6cjlP98Lmhb».",
        ],
        kept: &[
            "The recording qNLP381csoPOu4Hg3AUDgueYCc2yC12bViXIuON2.wav is in the archive.",
            "Plivo support wrote about case 1353.",
            "PLIVO_TOKEN=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "sinch-secret",
        what: "Sinch application secret",
        keywords: &["sinch"],
        finder: bare("[A-Za-z0-9+/]{22}==", 24),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* sinch_secret: `«nD7¦NtSDexw3Lz3lGB0XNea==»`",
            "The new secret for Sinch: «GTj¦vuI0Yj/Rge6WJaiqPDI==»",
            "Sinch accepts the secret `«CQ¦JtqOD7NrTevYWrshn4F4==»`, the other one not.",
        ],
        kept: &[
            "Build 60aTJ2AjzUbgaJewS5szTi== passed.",
            "Release 4613 drops support for Sinch.",
            "Where do I find the Sinch secret?",
        ],
        ..KEYED
    },
    Rule {
        kind: "pusher-secret",
        what: "Pusher app secret",
        severity: Severity::Medium,
        keywords: &["pusher"],
        finder: bare("[a-f0-9]{20}", 20),
        found: &[
            "ENV PUSHER_SECRET «8b¦6ff2860e98d336374c»",
            "My Pusher secret («ccc1¦1f3448a09c04f81d») was rotated.",
            "For Pusher we use the secret «70¦de9ab0eeb01d5d83a3», valid until May.",
        ],
        kept: &[
            "Parcel 81e16d6276179124d1a0 arrived.",
            "The Pusher client was upgraded to 4.15.1.",
            "PUSHER_SECRET={{ pusher_secret }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "ably-key",
        what: "Ably API key",
        keywords: &["ably"],
        finder: bare(r"[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}", 57),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ably_key=\"«r_tL¦xo.wvdnph:nKzij3Xpx4Z-kY3pQb2urssRK_dixgy8-7F4BsVvfMf»\"",
            "remember the Ably key «70H¦aAG.YAglNj:CONEaSkeycbOiNA2WULTt4RmWNKvpQrmP2o5IQ_n4vS»",
            "Ably key: «r79q¦zp.CrPbD9:Ny7mVAsXZsejlDmc5bZWA2lVyWOZkk_Gac4gNMJ52o3»",
        ],
        kept: &[
            "Look at node 9D9Ugg.i0uWcW:tjv-VNg7-uV6GAuIFzhFPkbCEFK_gPIqW3hkxFt28Tx in the \
             graph.",
            "Jo set up Ably in room 22.",
            "ABLY_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "sendbird-token",
        what: "Sendbird API token",
        keywords: &["sendbird"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "# Sendbird\nSENDBIRD_TOKEN=«f96b¦24d986c95cddfe59aa21a5234a5432422af9»",
            "The Sendbird token is «df¦99910eb5394b19007911979fcbf8452ab33dd0».",
            "Sendbird token = «9e¦f059c57fe36e4ddcea81f86aeee5ca04936dee», in the vault since \
             June",
        ],
        kept: &[
            "Reverted c23ce60b8a92dd48d64d40fe1c99dbbb650b875f on Friday.",
            "The Sendbird adapter was built from commit \
             4585583d4baa03de1dca5005d059ce93bb44ba2a.",
            "process.env.SENDBIRD_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "slack-signing-secret",
        what: "Slack signing secret",
        keywords: &["slack"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "SLACK_SIGNING_SECRET = '«f21¦73f50b71b3642d714fd909493340a»'",
            "Log in to Slack with the signing secret «33a1¦ef4f51d07ef4517ad55222b20eed».",
            "Use the Slack signing secret «a2e3¦1edec74279eaaeb5ea74856e3aeb».",
        ],
        kept: &[
            "Sum of the dump: 24c81fbc7d03515d850e5812536dc8c6",
            "Slack returned 503 for job 4191, then 200.",
            "SLACK_SIGNING_SECRET=${SLACK_SIGNING_SECRET}",
        ],
        ..KEYED
    },
    Rule {
        kind: "discord-client-secret",
        what: "Discord client secret",
        keywords: &["discord"],
        finder: bare("[A-Za-z0-9_-]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "discordClientSecret: «GW¦epOyKg6FwbGMrmfNqACY15br9_AG7X»",
            "The Discord client secret «By¦NWEHP8ZqXv3DuZQdhGcTuVwxIR46k1» is new.",
            "The new client secret for Discord: «1NG¦jpkNplcEwXzXwCq4cFXEMkyvUuesE»",
        ],
        kept: &[
            "Row Wmnm2DqxonTL8XzcH2E0lh2vE_BxkKiN of the export was empty.",
            "We moved away from Discord, see ticket OPS-8175.",
            "discord_client_secret = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "line-channel-token",
        what: "LINE channel secret",
        keywords: &["line_channel", "line messaging", "line bot", "line_bot"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "LINE_CHANNEL_TOKEN=«256¦be0f6bfb262c37280b497829a54c8»",
            "Old LINE bot channel secret: «d45¦af7a98a8ce5017c31d8d3ec89c82f». Delete it!",
            "Notre channel secret LINE bot : «9c¦d3839a2d22c9b4ff963eed59fc7fba»",
        ],
        kept: &[
            "md5sum: 43f92941c0cb198ea2c6b6098b6efc41  backup.tar",
            "The LINE bot plugin at b4470168e4f9af09d3e2d1ddb4724a6cb970ad1a fails on Windows.",
            "line_channel_token: 1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "viber-token",
        what: "Viber bot token",
        severity: Severity::Medium,
        keywords: &["viber"],
        finder: bare("[a-f0-9]{16}-[a-f0-9]{16}-[a-f0-9]{16}", 50),
        found: &[
            "$env:VIBER_TOKEN = \"«b55¦96e4a1fa1333e-dfe150ae10ec684c-7b487f48af3d4beb»\"",
            "My Viber token («0efa¦976bb9a0d206-b47b08b8c433e74b-cd1511fce43b8678») was \
             rotated.",
            "**Viber token**: `«f1f8¦0d386fdb7f2b-ee88f5838aa7f3e9-02593b149e2ae86b»`",
        ],
        kept: &[
            "The folder ee0cb164f047d91b-c312df82655483cc-a577beef6b6a107c can go.",
            "Two people at Viber answered.",
            "Viber rejects a token that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "mattermost-token",
        what: "Mattermost access token",
        keywords: &["mattermost"],
        finder: bare("[a-z0-9]{26}", 26),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "\"mattermost_token\": \"«239¦btz54pgl0ihvdhjwkisdt9n»\",",
            "Mattermost accepts the token `«oj90¦oa7i4mtutdssif9ea19j7h»`, the other one not.",
            "Mattermost: token \"«qz7¦iscs26va035symqmkyin0kn»\"",
        ],
        kept: &[
            "The recording hr7wmh1f7hh8xw0lg0mx7hz01p.wav is in the archive.",
            "The talk about Mattermost starts at 10:22.",
            "Mattermost token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "rocketchat-token",
        what: "Rocket.Chat auth token",
        keywords: &["rocketchat", "rocket.chat", "rocket_chat"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "  - ROCKETCHAT_TOKEN=«3s¦OqZC_12XK-ESTZeLAzKjZ0RgdvUiZ2r-rXbHLw_Ly»",
            "I think the token of our Rocket.Chat test account was «gR4M¦y1qDfpdMiWSpMJHaNFaqxzKeb\
             0JTdnOxtyTfVq0».",
            "The token of the Rocket.Chat account was «XdF¦XIi--Fbxus6YqeXIRWu5tC6KdDYXYLtWVq60\
             VXSf», says Jo.",
        ],
        kept: &[
            "Row QeYq-H4_xvw2ac4eot8RCmywC7VRkCGBALHG0BXgrlS of the export was empty.",
            "We moved away from Rocket.Chat, see ticket OPS-6154.",
            "ROCKETCHAT_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "zulip-key",
        what: "Zulip API key",
        keywords: &["zulip"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "export ZULIP_KEY=«INae¦tXO85VOQl0J7lvGi5dADTZZ36wBR»",
            "Jo sent the Zulip key by mail: «Z6¦qbNNEKT3Z2OcUUcS1rUZVJjhwONY3n»",
            "Copy the Zulip key <«Fh¦iIt1R2iPBaJBz3VRDXOtxORdNhhW3c»> to the phone.",
        ],
        kept: &[
            "Look at node h66CnKuom8I746rwSWroOGC6w4ysA2qL in the graph.",
            "The Zulip page 3060 shows the numbers.",
            "the Zulip key lives in zulip_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "pushover-token",
        what: "Pushover user or application token",
        severity: Severity::Medium,
        keywords: &["pushover"],
        finder: bare("[a-z0-9]{30}", 30),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "    pushover_token: «br7¦m8q907bp1aekzattcl6av35ld67»",
            "- Pushover token «8az¦5i4y8ti565imo22zye2xmc4s7u1»",
            "| Pushover token | «zfv¦mo43sgbuks9nkcp13x10xsvajab» | ops |",
        ],
        kept: &[
            "Build nzmehu3io3hgynvg22colgq4vcayf4 passed.",
            "Pushover support wrote about case 3936.",
            "Pushover token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "pushbullet-token",
        what: "Pushbullet access token",
        severity: Severity::Medium,
        keywords: &["pushbullet"],
        finder: bare(r"o\.[A-Za-z0-9]{32}", 34),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ARG PUSHBULLET_TOKEN=«o.ia¦yNx16YkX0wv6LmLh2pNuyYRl6FWVFg»",
            "Pushbullet wants a token, so I sent «o.0H¦i6QYKvYbbKdPjZL1aQivnFpQYNNFaw»; it \
             worked.",
            "For Pushbullet we use the token «o.eR¦lQkNOV99IqWr01Hlq4hMsgIakb7V4f», valid \
             until May.",
        ],
        kept: &[
            "Part o.iyq2PtFzJ75UDJGBvolOOiCmlPX69qE7 is out of stock.",
            "Ask Mira who owns the Pushbullet account.",
            "os.environ[\"PUSHBULLET_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "gotify-token",
        what: "Gotify token",
        severity: Severity::Medium,
        keywords: &["gotify"],
        finder: bare("[AC][A-Za-z0-9._-]{14}", 15),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "GOTIFY_TOKEN=«A.¦vd7WJ-tuEr2WX» make release",
            "the token (Gotify) → «CvP¦2XKj1gwCB4PW»",
            "Gotify 的 token 是 «C5¦iCtH9JQb5IZPj»。",
        ],
        kept: &[
            "Parcel Cym3XugUMs4MF9g arrived.",
            "The Gotify adapter was built from commit 42f8fe60a59aa208f1f95e58605d7e5736377de9.",
            "GOTIFY_TOKEN=%GOTIFY_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "zoom-secret",
        what: "Zoom client secret",
        keywords: &["zoom"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "| zoom_secret | «X1f¦xGG9gFHXoPwH15SPpGvglb8vVP1Cv» |",
            "The new client secret for Zoom: «4JK¦rFNj5rU27GMZLUGktcyjJNuc7e7U6»",
            "My Zoom client secret («8M6¦NqRTEw5qDZckgXGXghqOKfmqahsyj») was rotated.",
        ],
        kept: &[
            "Parcel z123UDz7veB2bEjkIi7flgQZrTOcDkkf arrived.",
            "Zoom was down from 10:00 to 10:20 on 2024-03-20.",
            "ZOOM_SECRET=YOUR_ZOOM_SECRET",
        ],
        ..KEYED
    },
    Rule {
        kind: "daily-key",
        what: "Daily API key",
        severity: Severity::Medium,
        keywords: &["daily.co", "daily_api", "daily video"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "let daily_api_key = \"«e6¦c8ba119540383773895f911b553861fd8cf2b69ec0e6298969e6b86a\
             87ca8d»\";",
            "Copy the Daily video key <«522¦147fc8f1eef088acaaa4a9780c13e6f09673b8a68a87018efd4\
             1dcde2fa0e»> to the phone.",
            "- Daily video key «28a1¦5e65b1f48fb186a33c52df9088b21ebae1093ed5819f37596d70e4efb8\
             40»",
        ],
        kept: &[
            "The layer c8e8a0be87aafc89bd081de30c56c20646c90cd9ffa3a5aad337615a45d7b4c8 is 40 \
             MB.",
            "Daily video costs more since 2883 users joined.",
            "Daily video rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "agora-certificate",
        what: "Agora app certificate",
        severity: Severity::Medium,
        keywords: &["agora"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "set -x AGORA_APP_SECRET «94e3¦fafdbadde6e5f57ef87f9c2b2627»",
            "Agora 的 secret (app certificate) 是 «9c¦125e9e9baf54da779cd2876e4a1845»。",
            "Log in to Agora with the secret (app certificate) \
             «7e68¦3f673ac47386827cd6605fa5c7fb».",
        ],
        kept: &[
            "The MD5 of the archive was a6fda2639ac8e340b46d823459d3da98.",
            "The Agora client was upgraded to 4.11.1.",
            "AGORA_APP_SECRET=${AGORA_APP_SECRET}",
        ],
        ..KEYED
    },
    Rule {
        kind: "livekit-secret",
        what: "LiveKit API secret",
        keywords: &["livekit"],
        finder: bare("[A-Za-z0-9]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "livekit_secret = «XNIi¦Q3n2FvxspDW3tQSOK9VFO7BMxRkzHBBVKx1jklU»",
            "Old LiveKit secret: «eE¦3wwh6Tlvx4LRKySo7AcgYcEfEMadyT15IgN6Wwv1u». Delete it!",
            "the secret (LiveKit) → «8P¦QJJJg3oqZfVtD4w1gtWi9avXo1doaHfibHD42V3DI»",
        ],
        kept: &[
            "The folder Cx4tYOCH2LGwNvoeRBJvZDc74ylSeTGvDup36vQWA4K can go.",
            "Jo set up LiveKit in room 28.",
            "livekit_secret: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
];
