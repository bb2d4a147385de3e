//! Bare values of logs, metrics and alarms.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "datadog-api-key",
        what: "Datadog API key",
        keywords: &["datadog", "dd_api", "dd-api"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "dd_api_key=\"«945¦eb3e032ca35301c0f2cfc50102e0f»\"",
            "The Datadog key is «ff¦c1f6a2fc4218af7f5d171e66d8618f».",
            "I think the key of our Datadog test account was «34¦9934c873042039d376030a60208020».",
        ],
        kept: &[
            "The MD5 of the archive was 86cdbf5b4c3cf24b654276cf5205420b.",
            "The Datadog adapter was built from commit \
             9e36cb41acac2769f85a48a0f52ac94b0378742c.",
            "dd_api_key = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "datadog-app-key",
        what: "Datadog application key",
        keywords: &["datadog", "dd_app", "dd-app"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "os.environ[\"DD_APP_KEY\"] = \"«104¦5a2744c135d9e1804de2e7f0d30e5c125e457»\"",
            "Notre key Datadog : «cbe¦423b455de75b85a082568437bc166e347eaf4»",
            "Old Datadog key: «9583¦492ee4179fc758038a7a404e0b84efa6f8bb». Delete it!",
        ],
        kept: &[
            "HEAD is now at d91abf07791ad1467708df8929ada5a442750cb6",
            "Release 2363 drops support for Datadog.",
            "The Datadog key goes into DD_APP_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "honeycomb-key",
        what: "Honeycomb API key",
        severity: Severity::Medium,
        keywords: &["honeycomb"],
        finder: bare("[A-Za-z0-9]{22}", 22),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "HONEYCOMB_KEY = '«yt¦QNkoaOkyAvNxK1iEMl3x»'",
            "Honeycomb accepts the key `«jbS¦8UGITljhP1bq2nk5U0k»`, the other one not.",
            "Use the Honeycomb key «ct9z¦w7HZ58OywnuOFz1CwK».",
        ],
        kept: &[
            "Row co290enRw015w1kdyb8d1R of the export was empty.",
            "The Honeycomb plugin at b5777aca8e7e3eb563d31b6845f41baa5db761f2 fails on Windows.",
            "HONEYCOMB_KEY={{ honeycomb_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "sentry-token-old",
        what: "Sentry auth token (old)",
        keywords: &["sentry"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "$env:SENTRY_TOKEN = \"«db2d¦d1525c8060b2197b0165a75d78342701371e2caf96768ee97d124d\
             fddada»\"",
            "Sentry wants a token, so I sent «dfd¦3edba481991a1945b2a1e7a6428e92e0fbad6906bd717\
             98905b0f19497072»; it worked.",
            "Sentry token: «400¦87949a1ece95250874f29a212820038ca4ed9f1029d1f2d48b4ad9cc589a6»",
        ],
        kept: &[
            "SHA-256 of the release: f38ba816b96c806881e352c8664ec771ed0150338d581f920eed81a16f\
             ae15ba",
            "The Sentry page 6009 shows the numbers.",
            "SENTRY_TOKEN=%SENTRY_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "sumologic-key",
        what: "Sumo Logic access key",
        keywords: &["sumo", "sumologic"],
        finder: bare("[A-Za-z0-9]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "  - SUMOLOGIC_KEY=«ujC¦mRld9emfU2c6wbuLgth2AwjFzwRQel8Y83yrqbYJOZO1GGs8h4J5G27Yalo\
             xO»",
            "| Sumo Logic key | «2T¦WfxsV7bMFRSzOKI32vaQ13c49RfH81n0UgFZuvybEza9fFaMd9GUey0Kbzq\
             D1R» | ops |",
            "Jo sent the Sumo Logic key by mail: «quf¦n4NtE0gtLeaAXxIdvhikTLg4QFagibrG3btnoKVAh\
             RAwCaKcnMqhc6RT23c7Q»",
        ],
        kept: &[
            "The recording 9479WSNfFZCjLK6MwH5YDQoOWqe9z8cFzyK0BZEFHUup6WRzx3fIrO2o4LlSSkfX.wa\
             v is in the archive.",
            "I like Sumo Logic, but the limits are tight.",
            "SUMOLOGIC_KEY={{ sumologic_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "sumologic-id",
        what: "Sumo Logic access id",
        severity: Severity::Medium,
        keywords: &["sumo", "sumologic"],
        finder: bare("su[A-Za-z0-9]{12}", 14),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "let sumologic_access_key_id = \"«su36¦pCluLbPlOr»\";",
            "My Sumo Logic access key id («suL¦Jsx0hmG9nBO») was rotated.",
            "Sumo Logic accepts the access key id `«sua¦zsX28igPv6K»`, the other one not.",
        ],
        kept: &[
            "The folder sui7Ts04xDieoG can go.",
            "The Sumo Logic invoice 7015 came to 49 EUR.",
            "SUMOLOGIC_ACCESS_KEY_ID=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "splunk-hec",
        what: "Splunk HTTP event collector token",
        keywords: &["splunk", "hec_"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "SPLUNK_HEC_TOKEN=«8d37¦be35-604a-c8f7-7afc-31135f82c9b7»",
            "Copy the Splunk token <«d95¦6d1cc-538a-5745-fcb1-1b3d9f513af1»> to the phone.",
            "The token of the Splunk account was «2f08¦b2b6-fa8f-13a9-518b-53dcea0c038c», says \
             Jo.",
        ],
        kept: &[
            "The row df8c9bc7-c75c-f37b-38ba-17f48c479d06 has no parent.",
            "Splunk costs more since 5358 users joined.",
            "SPLUNK_HEC_TOKEN=YOUR_SPLUNK_HEC_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "pagerduty-key",
        what: "PagerDuty API key",
        keywords: &["pagerduty", "pager_duty", "pd_api"],
        finder: bare("[A-Za-z0-9+_-]{20}", 20),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "ARG PAGERDUTY_KEY=«af¦_OYc4yiPyta1rQBE1A»",
            "I think the key of our PagerDuty test account was «NbD8¦RDmzwzkLYf1DJ5e8».",
            "PagerDuty key: «yj¦h0UkfRx_ZNQ8hs1U3H»",
        ],
        kept: &[
            "Look at node XeoDq8JTBrsaxNdTwcl3 in the graph.",
            "Our PagerDuty contract ends on 2025-11-22.",
            "process.env.PAGERDUTY_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "opsgenie-key",
        what: "Opsgenie API key",
        keywords: &["opsgenie"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "    opsgenie_key: «b98¦cba8c-782d-9d5a-eb86-9978920d4ca1»",
            "The Opsgenie key is «d2dc¦0602-0ce9-95d3-6326-f8fd84212dac».",
            "The Opsgenie key «ff80¦fdd8-a2d6-0104-e057-22aa3a2ab85b» is new.",
        ],
        kept: &[
            "Device 2df8fe66-f3cf-184c-339c-618476bb273b went offline.",
            "Ask Mira who owns the Opsgenie account.",
            "Where do I find the Opsgenie key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "loggly-token",
        what: "Loggly customer token",
        severity: Severity::Medium,
        keywords: &["loggly"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "ENV LOGGLY_TOKEN «7202¦0128-cfe3-4651-39ac-88a005a7904a»",
            "**Loggly token**: `«2b¦2b9e02-6bcc-5f61-9cbf-ce2030b8da10»`",
            "Use the Loggly token «9d3¦63a48-0ea3-8d2c-d125-8bea67057803».",
        ],
        kept: &[
            "Trace 51ba5d4b-8ffc-4be5-45d4-aabbaeeb65c1 shows two retries.",
            "The talk about Loggly starts at 10:21.",
            "loggly_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "logz-token",
        what: "Logz.io API token",
        severity: Severity::Medium,
        keywords: &["logz", "logzio"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "logzToken := \"«0e8¦dd330-f3cf-ce4a-4273-38887c7ea549»\"",
            "Logz.io 的 token 是 «7e¦d63bd2-aaf8-1f53-f479-eadf966ee7d3»。",
            "Log in to Logz.io with the token «6d90¦c279-5092-23c1-3aae-b9563f7aa4c6».",
        ],
        kept: &[
            "Order 25ee5d78-f47c-007a-5ad2-1dc60896d509 was shipped on Monday.",
            "Two people at Logz.io answered.",
            "Logz.io token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "betterstack-token",
        what: "Better Stack source or API token",
        severity: Severity::Medium,
        keywords: &["logtail", "betterstack", "better stack", "better_stack"],
        finder: bare("[A-Za-z0-9]{24}", 24),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "BETTERSTACK_TOKEN: \"«Giq¦8qVh0CCj2pdcQzGgnrXRr»\"",
            "For Better Stack we use the token «Rzmn¦8Tom29ApSrPzP1bAlF9D», valid until May.",
            "The new token for Better Stack: «Rqs¦uRadjyIgdpy69Pw0mWpzA»",
        ],
        kept: &[
            "Part ckrgMvBhXtjqjkGa1O0FsoE5 is out of stock.",
            "Better Stack support wrote about case 4006.",
            "os.environ[\"BETTERSTACK_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "rollbar-token",
        what: "Rollbar access token",
        severity: Severity::Medium,
        keywords: &["rollbar"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "rollbarToken: «18a¦a347cb3b92ec61cc97df5cbcac605»",
            "Rollbar wants a token, so I sent «364¦cbea83e0b89aa680d2278f42d9d2c»; it worked.",
            "Old Rollbar token: «3e¦e8152051896a9e7e328667ab87bc6b». Delete it!",
        ],
        kept: &[
            "The MD5 of the archive was c1c5316f5901712a8e6c5662fafa3ded.",
            "We moved away from Rollbar, see ticket OPS-1243.",
            "ROLLBAR_TOKEN=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "bugsnag-key",
        what: "Bugsnag API key",
        severity: Severity::Medium,
        keywords: &["bugsnag"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "bugsnag-key = «37¦8905c936a4c6965b4cac8c21f67ec2»",
            "Notre key Bugsnag : «02e¦9c84ed9346dac8cf9ef1b2b89f16f»",
            "- Bugsnag key «7868¦2539497364c37691680c25cdf85d»",
        ],
        kept: &[
            "ETag 31e790f0f16d7fc2aa54937e8f8ec0ae did not change.",
            "The Bugsnag client was upgraded to 4.21.1.",
            "The Bugsnag key goes into BUGSNAG_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "airbrake-key",
        what: "Airbrake project or user key",
        severity: Severity::Medium,
        keywords: &["airbrake"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "set -x AIRBRAKE_KEY «a73e¦4307af5136068531b4e8f9ce24aa3e147de0»",
            "the key (Airbrake) → «8945¦aa51e2085349a8291bfb84b0724a71a84522»",
            "remember the Airbrake key «482a¦2338015ce44ab55271c504dec89596218a75»",
        ],
        kept: &[
            "Merged at ad6f69ea819ada98bb5f5858a3ff3030c4de0b73.",
            "Airbrake (plan B) has 8903 rows.",
            "Airbrake rejects a key that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "lightstep-token",
        what: "Lightstep access token",
        severity: Severity::Medium,
        keywords: &["lightstep"],
        finder: bare("[A-Za-z0-9+/]{84}", 84),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "\"lightstep_token\": \"«vhI¦aWM4aroxmr5DQl8tCl9UL3+3C2aZMKUd6KleX+Zwp2CFg91oElj970\
             YDdxegdCsA+qswmHF2sn5Kw8Ltx»\",",
            "Lightstep: token \"«cFMK¦N7GqRb/X7zncaboZw9OkAGpl53O+vqndD4ACZhFtgDTltUjUm19/gvGhX\
             soOPyQS0zDwJUTFYmaCYE5h»\"",
            "Lightstep token = «2i¦30s5E2LrIeaitSKRApEQoC7dj78l0femWSY46Hu/5T7grvNbkao6oisiTAhf\
             48bJuCY43BmEW6wc3wvDQS», in the vault since June",
        ],
        kept: &[
            "The folder rwBYwStGLFDI23OWU9mIi+QLBE+HE8M9NGtpjSGQQjFm7jgncezfIviLMsV/QjLBS974+DQ\
             F/hFZB6cZgxSC can go.",
            "Lightstep returned 503 for job 1735, then 200.",
            "LIGHTSTEP_TOKEN=%LIGHTSTEP_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "splunk-observability-token",
        what: "Splunk Observability access token",
        keywords: &["splunk", "signalfx"],
        finder: bare("[A-Za-z0-9_-]{22}", 22),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "| splunk_observability_token | «d8q¦_kEfGOT9fu-xK0JxIb2» |",
            "Jo sent the Splunk Observability token by mail: «q4yp¦GfxM893G6O0D8vF1jX»",
            "Splunk Observability token = «pX¦FQUMzfV5U09zUUVtqFK6», in the vault since June",
        ],
        kept: &[
            "Row FO3qRjYcJgppJTOpI_TAi2 of the export was empty.",
            "Splunk Observability was down from 10:00 to 10:20 on 2024-03-21.",
            "splunk_observability_token: xxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "uptimerobot-key",
        what: "UptimeRobot API key",
        severity: Severity::Medium,
        keywords: &["uptimerobot", "uptime_robot", "uptime robot"],
        finder: bare("[mu]r?[0-9]{6,9}-[a-f0-9]{24}", 36),
        found: &[
            "export UPTIMEROBOT_KEY=«ur4¦47039-70dc86ddebe014d32c29608d»",
            "UptimeRobot wants a key, so I sent «ur44¦05430-5d440fffbcae801f6a7d4b5d»; it \
             worked.",
            "UptimeRobot 的 key 是 «ur31¦92843-f0e690c3266d40a39336916f»。",
        ],
        kept: &[
            "Look at node u702494-79026f914cc3ca429750cd68 in the graph.",
            "UptimeRobot was down from 10:00 to 10:20 on 2024-03-12.",
            "UPTIMEROBOT_KEY=1123456-1234567890abcdef12345678",
        ],
        ..KEYED
    },
    Rule {
        kind: "statuspage-key",
        what: "Statuspage API key",
        severity: Severity::Medium,
        keywords: &["statuspage"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "statuspage_key = «53f0¦acc4-dcef-b6c2-86de-2b8c08966722»",
            "The Statuspage key «fb8¦214ef-1a91-2b63-f121-7c075321eb02» is new.",
            "Use the Statuspage key «5d8¦0ac69-34ee-a8ff-dbbd-d6dc24dd5fed».",
        ],
        kept: &[
            "Trace a7396307-a7cf-adf3-0e93-66c31b190f3e shows two retries.",
            "The Statuspage invoice 7896 came to 49 EUR.",
            "STATUSPAGE_KEY=${STATUSPAGE_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "appoptics-token",
        what: "AppOptics or SolarWinds API token",
        severity: Severity::Medium,
        keywords: &["appoptics", "solarwinds", "papertrail"],
        finder: bare("[A-Za-z0-9_-]{71}", 71),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "{\"appoptics_token\": \"«E2¦7qmF7_o0r5JjOsaRLlrfzEPsR3XHs_dJmteuwrW2NObc34X-dzPNd6\
             VjCfpGw0rfHEfX2»\", \"retries\": 3}",
            "AppOptics or SolarWinds: token \"«K6¦yNijgFBS5H68A4-8VwNJ9HpH2FLDBXlsFnKwHWf1jP1HR\
             Tel20TlgHtVELvIi0riYxL_U»\"",
            "- AppOptics or SolarWinds token «A1Q¦FWzgiWqwtPz3W2bY2DWI6wAYKfV5i7DTXEvmTKQt5Lzq9\
             zrr6dH7L9koh7_4POswYKVy»",
        ],
        kept: &[
            "Parcel OHRyLXJTJVROEEih7ZYytWNHA1p4jgt7LhEq4ApVI5GaS7bzsztsAYWD05ejoOlouGif35E \
             arrived.",
            "AppOptics or SolarWinds costs more since 4322 users joined.",
            "the AppOptics or SolarWinds token lives in appoptics_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "split-key",
        what: "Split SDK key",
        severity: Severity::Medium,
        keywords: &["split_", "splitio", "split.io"],
        finder: bare("[a-z0-9]{36}", 36),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "SPLIT_SDK_KEY=«0t¦z2cl8ksif5i4hmmk447tmbmts5ao824ja7» make release",
            "| Split.io key | «02¦qczrk9bqz83hu652u11uy4y62f8cwans17» | ops |",
            "**Split.io key**: `«4x¦qod7q15hn7z1fhu0ahafjgn9je3e4nsdkd»`",
        ],
        kept: &[
            "Build yzyaxunr153eg9e9ouwt3ssgtp7k25yj16f8 passed.",
            "The Split.io page 2322 shows the numbers.",
            "the Split.io key lives in split_sdk_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "optimizely-token",
        what: "Optimizely personal token",
        severity: Severity::Medium,
        keywords: &["optimizely"],
        finder: bare("2:[A-Za-z0-9_-]{43}", 45),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "{\"optimizely_token\": \"«2:C¦20nyR01_fUCTdbqFLuOwa4Bw_B7ClLWBMnQO2A_RkO»\", \
             \"retries\": 3}",
            "the token (Optimizely) → «2:No¦hGqzAjp1xASuGPiZs1taEliWECtYx_OnT4_OmmkRw»",
            "remember the Optimizely token «2:BJ¦AsHndtKWhu-GjiYMLKGZ3wyNVEc4DcEkMpPbpO-Jt»",
        ],
        kept: &[
            "The recording 2:SoPlQnzkp63GF0B_yoJ1J5nHuZigXO4BXeF_E69jdWc.wav is in the archive.",
            "Optimizely (plan B) has 3991 rows.",
            "os.environ[\"OPTIMIZELY_TOKEN\"]",
        ],
        ..KEYED
    },
];
