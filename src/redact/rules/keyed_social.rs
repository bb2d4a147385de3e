//! Bare values of logins and social networks.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "auth0-client-secret",
        what: "Auth0 client secret",
        severity: Severity::Critical,
        keywords: &["auth0"],
        finder: bare("[A-Za-z0-9_-]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "auth0ClientSecret := \"«8P¦QrvfgeqVRTB1O6H2w1sTCgQ7z_-aXAbeZhWAXyVgGn4Cx2loMlp2UC2\
             dRIBWSg»\"",
            "Auth0 client secret: «tqo¦9NgxkvUPb-R1OkWj06X4oszWeBJgraIoHiQjJnSoPso1D4VLg8EDH93q\
             huht9»",
            "Auth0 client secret = «HKB¦zGkRHgeoeVVK4d3Eye-KQHyVvprtbSFJseSXHsheqzQlgwfNrf7p3Mu\
             VlL1uH», in the vault since June",
        ],
        kept: &[
            "Look at node BisDIhaF4O9ywHhmEROhIY3JtTGseUT7ANrHQzScaFhiDM9YjQu0WaHL6cTK4paL in \
             the graph.",
            "The talk about Auth0 starts at 10:12.",
            "Where do I find the Auth0 client secret?",
        ],
        ..KEYED
    },
    Rule {
        kind: "onelogin-secret",
        what: "OneLogin client secret",
        severity: Severity::Critical,
        keywords: &["onelogin"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "ENV ONELOGIN_SECRET «0ea¦abdb49e41fd45eac8fb606747016a74b8d6c04d0c46c7f764711e568c\
             08fc»",
            "Copy the OneLogin client secret <«9ff¦0396d52cdc96915046868741bb39c02917762715c7aa\
             2730eb49b6ee598fa»> to the phone.",
            "Old OneLogin client secret: «f1a8¦dec8c7a47c7ded32b23aec15157e32d1d944317c7c8bbd36\
             d68ea12d355a». Delete it!",
        ],
        kept: &[
            "The image was sha256:05e9d1572ec0f6ca11a25aa46692630785420314d2e635bbcc4dd777d20c6\
             249.",
            "OneLogin returned 503 for job 7925, then 200.",
            "OneLogin client secret: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "duo-secret",
        what: "Duo secret key",
        severity: Severity::Critical,
        keywords: &["duo_", "duo "],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "# Duo\nDUO_SECRET=«7zD¦WC9LD9SiY21knAEUkcVnxMxR85Rh792Sy5bsK»",
            "Jo sent the Duo secret key by mail: «8P¦GioGchzvnyH6uGFYByXiFLD4vsyUyqbbDZWUPU»",
            "Log in to Duo with the secret key «5g¦Nm901tFv7FJzqefTVW5a6IWN3bdfdHJzOuzTFb».",
        ],
        kept: &[
            "The folder 9o0sqD2NZlhNOMytvThgJ69oIfEu24pTggzNA78p can go.",
            "Our Duo contract ends on 2025-11-10.",
            "DUO_SECRET=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "keycloak-secret",
        what: "Keycloak client secret",
        keywords: &["keycloak"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "const keycloakSecret = \"«Ld9q¦IJxcdg1Vaidqzoo4VYF5oT5NEv3X»\";",
            "Keycloak accepts the client secret `«UEA¦rCoGEx4J3d3FsO5bf05ADoH6YLrOw»`, the \
             other one not.",
            "I think the client secret of our Keycloak test account was «1WQ4¦lBt3EBAF97nFrblCD8W9\
             GgXmM8zx».",
        ],
        kept: &[
            "Build FWjz9LwAGU2LGoc4Er84lIrt691MKu32 passed.",
            "Release 1779 drops support for Keycloak.",
            "keycloak_secret = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "apple-app-password",
        what: "Apple app-specific password",
        keywords: &["apple", "icloud"],
        finder: bare("[a-z]{4}(?:-[a-z]{4}){3}", 19),
        found: &[
            "apple_app_password: «jki¦m-ijlr-roar-mekz»",
            "The app password of the Apple account was «ezda¦-bmuz-emwn-hdyg», says Jo.",
            "The Apple app password «gf¦vf-onvh-skob-wsia» is new.",
        ],
        kept: &[
            "Look at node uimx-btyq-asfj-rplp in the graph.",
            "Apple support wrote about case 2294.",
            "apple_app_password: xxxx-xxxx-xxxx-xxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "bluesky-app-password",
        what: "Bluesky app password",
        severity: Severity::Medium,
        keywords: &["bluesky", "bsky"],
        finder: bare("[a-z2-7]{4}(?:-[a-z2-7]{4}){3}", 19),
        found: &[
            "bluesky_app_password: «yc¦7x-ig37-a66x-wygo»",
            "Bluesky wants a app password, so I sent «nh¦xa-wdqq-2sqq-nchn»; it worked.",
            "| Bluesky app password | «a4¦rc-qumh-65g3-mjfc» | ops |",
        ],
        kept: &[
            "The recording l6ds-ml5q-xjs7-x7mz.wav is in the archive.",
            "The Bluesky page 9736 shows the numbers.",
            "BLUESKY_APP_PASSWORD=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "facebook-app-secret",
        what: "Facebook app secret",
        keywords: &["facebook", "fb_app", "meta app", "instagram"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "FACEBOOK_APP_SECRET: \"«1bb¦1c16a51b0e0073612b848779dc6d4»\"",
            "Notre app secret Facebook : «741¦c2754d9dca0969e6101d5b247536a»",
            "**Facebook app secret**: `«8516¦02302a06b7c2b4d71648cd5f1170»`",
        ],
        kept: &[
            "The MD5 of the archive was 36c317da98e25ddcdbdb652f70f02107.",
            "Jo set up Facebook in room 28.",
            "FACEBOOK_APP_SECRET=%FACEBOOK_APP_SECRET%",
        ],
        ..KEYED
    },
    Rule {
        kind: "facebook-app-token",
        what: "Facebook app token (id and secret)",
        keywords: &["facebook", "fb_"],
        finder: bare(r"[0-9]{15,16}\|[A-Za-z0-9_-]{27}", 44),
        checks: &[Check::MixedCase],
        found: &[
            "\"facebook_app_token\": \"«421¦1833018482644|psi-iNMoMVjiDHRpsuYll9EXq-5»\",",
            "For Facebook we use the app token «3678¦91489433858|3tP_3yc1513JdOK5ybPeKHiX02o», \
             valid until May.",
            "the app token (Facebook) → «75¦2691843519317|5lOlIRDMq3uQSHn8yyIUFy6kk82»",
        ],
        kept: &[
            "The folder 369350461921887|RZyOMAGmh-GpWGWFy9BPm9xkGL1 can go.",
            "Two people at Facebook answered.",
            "the Facebook app token lives in facebook_app_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "twitter-key",
        what: "X (Twitter) consumer key",
        severity: Severity::Medium,
        keywords: &["twitter", "x_api", "x_consumer"],
        finder: bare("[A-Za-z0-9]{25}", 25),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "set -x TWITTER_KEY «zBnZ¦wMghQY3I24GwFkII2Lnnf»",
            "- Twitter consumer key «d8¦WJmysNaV1xCyL6fnVZ2weo0»",
            "the consumer key (Twitter) → «9Qgp¦zroRNigD1xkC0P2Yga5VU»",
        ],
        kept: &[
            "Row HtumXd1cLLDKm1DIaLvVdQI9N of the export was empty.",
            "The Twitter client was upgraded to 4.16.1.",
            "TWITTER_KEY=YOUR_TWITTER_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "twitter-secret",
        what: "X (Twitter) consumer secret",
        keywords: &["twitter", "x_api", "x_consumer"],
        finder: bare("[A-Za-z0-9]{50}", 50),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "twitter_secret = «hep¦QOj33tMZWx44DZG2qsJ8T4Ma4DotOTrBwKVpre5E63bAPGY»",
            "**Twitter consumer secret**: `«6J1q¦GLIXI7UnNp3wA6wLj1pJatnrRUJxyghFWbFGURJ3c03umx\
             »`",
            "Log in to Twitter with the consumer secret \
             «to¦uuAaIBuieOmex3gtBcPoVZdkbjBmfMRyfAm1R5aEmVvIvOpX».",
        ],
        kept: &[
            "Part yiIVKlDTbA96vt7IGe1SeVvr8y07BEKX5vFOgPbc18O39b3hFX is out of stock.",
            "We moved away from Twitter, see ticket OPS-3229.",
            "os.environ[\"TWITTER_SECRET\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "twitter-access-token",
        what: "X (Twitter) access token",
        keywords: &["twitter", "x_access"],
        finder: bare("[0-9]{15,20}-[A-Za-z0-9]{40}", 61),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "$env:TWITTER_ACCESS_TOKEN = \"«7211¦55079103304-eM2IKNLFIIuuVhUpvEgM8XBZdyUfrVUuCw\
             Y94G9l»\"",
            "The token of the Twitter account was «18¦63157226973758340-wL8XEBXgDNUnj0ct8MaPnjy\
             AzkmwX1RutzHQ3MsX», says Jo.",
            "Notre token Twitter : «011¦3137374085513-zjZPlkIh6M1OSb7vNJvSgmAZBSuiRS1uw9kPD9UF»",
        ],
        kept: &[
            "Build 675283324841934-72GdHBeOLHQv6qKJHBLl0m3kigqzPfTZxqZYEjWY passed.",
            "The Twitter plugin at 8643e4da54e10c1c94546c34a43e64c91614f48d fails on Windows.",
            "Twitter token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "twitter-access-secret",
        what: "X (Twitter) access token secret",
        keywords: &["twitter", "x_access"],
        finder: bare("[A-Za-z0-9]{45}", 45),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "TWITTER_ACCESS_SECRET = '«9FcN¦RG7t0cIfodwYnt9NJvgpqTw92rrE1aqggRYHr9d0U»'",
            "My Twitter access token secret («VvX¦ovFaftiwHEhwJcTCB5KCGWqIn7i6fYDtcEt4OqItPR») \
             was rotated.",
            "remember the Twitter access token secret «lxoC¦KZ7csHRlWKmCRV5tkDKWrBJNrsgJGKBOoEk\
             qOuOIr»",
        ],
        kept: &[
            "Parcel Y2lnwLSkHbYX2bftMPHqI7TtNbVBWQNfD5bCSKZW0OxZ1 arrived.",
            "The Twitter invoice 7287 came to 49 EUR.",
            "TWITTER_ACCESS_SECRET={{ twitter_access_secret }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "linkedin-secret-old",
        what: "LinkedIn client secret (old)",
        keywords: &["linkedin"],
        finder: bare("[A-Za-z0-9]{16}", 16),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "LINKEDIN_SECRET=«IY¦cz486I1FwsKwSL» make release",
            "LinkedIn: client secret \"«o9¦5GQ5onoEf4ZQ3o»\"",
            "The LinkedIn client secret «5Q3¦BzDpCH7wbG3lK» is new.",
        ],
        kept: &[
            "The recording SrR0TcGwke8I4yH5.wav is in the archive.",
            "LinkedIn costs more since 7062 users joined.",
            "LINKEDIN_SECRET=%LINKEDIN_SECRET%",
        ],
        ..KEYED
    },
    Rule {
        kind: "reddit-secret",
        what: "Reddit client secret",
        severity: Severity::Medium,
        keywords: &["reddit"],
        finder: bare("[A-Za-z0-9_-]{30}", 30),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "{\"reddit_secret\": \"«0dz¦2qU2_3iL_zNV-MyqyX5o5Bqfh1r»\", \"retries\": 3}",
            "The new client secret for Reddit: «KdxD¦NwQLAKu_FHe3yFphU-LCntgjxy»",
            "Reddit client secret = «m-¦ITGgPusQ6x92bdxKOE_A4iOILBgr», in the vault since June",
        ],
        kept: &[
            "Row 1O9ttiU8caxeo9t1x-UCgG7weGwzkt of the export was empty.",
            "Reddit (plan B) has 8439 rows.",
            "REDDIT_SECRET=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "twitch-secret",
        what: "Twitch client secret",
        severity: Severity::Medium,
        keywords: &["twitch"],
        finder: bare("[a-z0-9]{30}", 30),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "* twitch_secret: `«uzh¦l578goh36h9t3mk3tkawht3zae3»`",
            "Twitch 的 client secret 是 «e82¦w1pq4qztujfyl7et4njpz68grp7»。",
            "Copy the Twitch client secret <«eqj¦x1kuoamkgkko42qbvpug6q65zoe»> to the phone.",
        ],
        kept: &[
            "Part uvl3m088gwncu83ooj5bk17q788s0v is out of stock.",
            "The Twitch adapter was built from commit 0ff0d441c4be9506529eb02824073bd341a1e008.",
            "TWITCH_SECRET=YOUR_TWITCH_SECRET",
        ],
        ..KEYED
    },
    Rule {
        kind: "spotify-secret",
        what: "Spotify client secret",
        severity: Severity::Medium,
        keywords: &["spotify"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "spotify-secret = «e5ce¦9e9632a5d1f56ab3eb893b795b3c»",
            "The Spotify client secret is «e78¦c8424698a0445cc946090180273c5».",
            "Spotify accepts the client secret `«f7b6¦87c7f2cd418f3c2fa848809b3f11»`, the \
             other one not.",
        ],
        kept: &[
            "ETag 2e3776adb3da03f9344b0a57a22046ef did not change.",
            "Ask Mira who owns the Spotify account.",
            "spotify_secret = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "dropbox-app-secret",
        what: "Dropbox app key or secret",
        severity: Severity::Medium,
        keywords: &["dropbox"],
        finder: bare("[a-z0-9]{15}", 15),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "dropboxAppSecret: «p2¦me5tl5ab04o1k»",
            "- Dropbox app secret «ac¦k1iyfpc92rhkc»",
            "Old Dropbox app secret: «tj¦gug7kxj5bfe39». Delete it!",
        ],
        kept: &[
            "Build 13hppkn75pml0g2 passed.",
            "Dropbox was down from 10:00 to 10:20 on 2024-03-20.",
            "DROPBOX_APP_SECRET=${DROPBOX_APP_SECRET}",
        ],
        ..KEYED
    },
    Rule {
        kind: "box-secret",
        what: "Box client secret",
        keywords: &["box_client", "box_app", "box.com", "box api", "boxapp"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "  - BOX_CLIENT_SECRET=«Hz¦pXd63Ru1KonZXcpjxWTXJZvLH09aRd»",
            "I think the client secret of our box.com test account was «S2W¦p2xMHvE0g4aaWHmOtZpzeB\
             b2dOW8T».",
            "box.com client secret: «xE¦D21m1dmHCkhgrJSI5jKrqyrfaUXsUM»",
        ],
        kept: &[
            "Parcel EHTwTiY5QO5vdhJcXeUcYrNRCz6F5QyR arrived.",
            "I like box.com, but the limits are tight.",
            "box.com rejects a client secret that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitly-token",
        what: "Bitly access token",
        severity: Severity::Medium,
        keywords: &["bitly", "bit.ly"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "bitly_token=\"«5459¦298dfde474bc7dd2eba9b5ac483b0af1744a»\"",
            "For Bitly we use the token «ac¦2e2cc8c52c74367042c7e68d756f2cddd30d2a», valid \
             until May.",
            "| Bitly token | «5ae¦58a3ca0a39f9c592cb52b07aa9126fbb4c3c5» | ops |",
        ],
        kept: &[
            "Merged at fdf178fec4c0024830bf37ad0671c6058997a5d2.",
            "Jo set up Bitly in room 13.",
            "bitly_token: 1234567890abcdef1234567890abcdef12345678",
        ],
        ..KEYED
    },
    Rule {
        kind: "strava-secret",
        what: "Strava client secret or token",
        severity: Severity::Medium,
        keywords: &["strava"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "    strava_secret: «f66¦b6bdb4f0d7622c36240a64294795c15c2e9d8»",
            "Strava wants a client secret, so I sent «076¦a9ac66b5525016232b4dc7c0e59eb68db1329\
             »; it worked.",
            "Use the Strava client secret «be0e¦0385d64bca5bbe903d672cb06cd4139ffc82».",
        ],
        kept: &[
            "Merged at c1723d21bfce5310aab61abe3b8abf396684ab8f.",
            "The Strava adapter was built from commit 63689bac4082b737fd0722ba9efe111ae1c4097d.",
            "the Strava client secret lives in strava_secret.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "yandex-secret",
        what: "Yandex OAuth client secret",
        keywords: &["yandex"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "os.environ[\"YANDEX_SECRET\"] = \"«6d48¦f679dd43f852105e335b4eb8e6ad»\"",
            "Jo sent the Yandex client secret by mail: «a7d¦9723405d1f7379cacd0c94f2af0f9»",
            "Copy the Yandex client secret <«5f48¦226ffa35286e32421cf4e65181e5»> to the phone.",
        ],
        kept: &[
            "The blob 1c4d7e1394eecee243a62db218db603a is a test image.",
            "Ask Mira who owns the Yandex account.",
            "YANDEX_SECRET=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
];
