//! Clouds: Google and its login.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "gcp-api-key",
        what: "Google API key (Maps, Gemini, Firebase)",
        literals: &["AIza"],
        finder: shape("AIza[A-Za-z0-9_-]{35}", 39),
        found: &[
            "AIz¦a72-dy3Y9EDUg02fp4lehD8dHAZOsGXz6Hj2",
            "ENV GCP_API_KEY «AIz¦aJMz30Cg_Y4ecaFABF4DcFYhexqaZXIj-KD1»",
            "The one for Google is `«AIz¦aE-Rf-TzIuEw_oVuF54xeiwTDrZ6F_zLVl1I»`.",
        ],
        kept: &[
            "Put yours here: AIzaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "We filter on AIza (that is Google).",
            "Row 7: AIzakJoQrG…",
        ],
        ..MARKED
    },
    Rule {
        kind: "gemini-auth-key",
        what: "Google AI Studio auth key",
        literals: &["AQ.Ab8RN6"],
        finder: shape(r"AQ\.Ab8RN6[A-Za-z0-9_-]{44}", 53),
        found: &[
            "AQ.A¦b8RN6UekJvMGuky2fWedW57cMbZD6WigurqBPf8puyDYU0Apo",
            "gemini_auth_key=«AQ.A¦b8RN6iRHxZWO-yC-a7taGyHgVuPFpgR7xpGCs5TTK13GCHPUd»&page=2",
            "Is «AQ.A¦b8RN61BDm8h3KVC3WuYhI1Yo-yIQ7LZf6fn-FyniFj1e78JQM» still in use?",
        ],
        kept: &[
            "GEMINI_AUTH_KEY=<your Google AI Studio value>",
            "`AQ.Ab8RN6` is how Google AI Studio marks its own.",
            "Google AI Studio answers: bad value AQ.Ab8RN60DnJR8…",
        ],
        ..MARKED
    },
    Rule {
        kind: "google-oauth-secret",
        what: "Google OAuth client secret",
        literals: &["GOCSPX-"],
        finder: shape("GOCSPX-[A-Za-z0-9_-]{28}", 35),
        found: &[
            "GO¦CSPX-fMOIfTpi1rZV0BDkESGdCRkfnPRs",
            "googleOauthSecret := \"«GOC¦SPX-MJrxlTBSIf54MMJwU-hHRcaaRepl»\" // see the wiki",
            "Google 的密钥是 «GOCS¦PX-6-erxVrC_aRXsE8scFndfe_Kum91»，请勿外传。",
        ],
        kept: &[
            "process.env.GOOGLE_OAUTH_SECRET",
            "case GOCSPX-*) echo Google ;;",
            "Only GOCSPX-jM3a36 was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "google-access-token",
        what: "Google OAuth access token",
        literals: &["ya29."],
        finder: tailed(r"ya29\.[A-Za-z0-9_-]{20}", 25, Tail::Dotted),
        found: &[
            "ya2¦9.zwMI3EMclmtm7edz8PPG9vpN5yyPv28Rv97NGLIspLDQy7yOfYSsaBpX8XOyCbMmXRjbrn8liWqq\
             3AwFrpYheLxAKwKtFqRTLafgbViHVS4hrY",
            "| name | value |\n|---|---|\n| google_access_token | \
             «ya¦29.BtzJZ_18GE1eTjAI3WzOUPQ2vXGIaFopQLdJjl3QXCLvy97cWWqL9YwyRvWXbsfqwxH3BwU70nC\
             TpYsVvN5fk2MG04ndIbD90hV9Vk6H10ZLyB» |",
            "Der Schlüssel lautet «ya29¦.alX_l11FznltWKb2h2NbJoM8SMD0SCztlTeyG0Kt8sUXoxaZh8TQYa\
             rggKrh5BZgeGLpmBGBep4AnH6ieqePXPjaQj2A5tOtumVocXuQddRSBN», gültig bis Ende Juli.",
        ],
        kept: &[
            "\"google_access_token\": \"ya29.xxxxxxxxxxxxxxxxxxxx\"",
            "We filter on ya29. (that is Google).",
            "Masked: ya29.e8H****",
        ],
        ..MARKED
    },
    Rule {
        kind: "google-refresh-token",
        what: "Google OAuth refresh token",
        severity: Severity::Critical,
        literals: &["1//0"],
        finder: shape("1//0[A-Za-z0-9_-]{30}", 34),
        found: &[
            "1//¦0_u0DUA4b_js8lsznyjFjlLz33vPa1pPrbquS0bI1QMXPtq9J2rtpbUx3EOfypLaQW9CjRzzBnsGL6\
             Z8Dw15R8WnExo",
            "GOOGLE_REFRESH_TOKEN=«1//¦0rK5UK4PgnGYr9gXJOM2QIUV5IvdmQfIwOALQmQadPpXzzLUKxGPMtFU\
             gZCtQ9g3EGKdTohvB2OLMBNUGIC4B9CGC8N» make release",
            "Google gave us «1//¦02HpgUrWbp9H3M1jMB0odgtVp_bH4I84RpYvL3BnxSpNDvjBbo97ZdbNt4QPvy\
             G9hOzJXutWFKgWikFbAOdTrED0TgV», which runs out in June.",
        ],
        kept: &[
            "GOOGLE_REFRESH_TOKEN=1//0YOUR_VALUE_HERE",
            "Google: the ones with 1//0",
            "The list had 1//0NKlMP (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "google-auth-code",
        what: "Google OAuth authorisation code",
        severity: Severity::Medium,
        literals: &["4/0"],
        finder: shape("4/0[A-Za-z0-9_-]{60}", 63),
        found: &[
            "4/¦0hinMQXD74yX7VsiI0QyUXS5mQCrelcptm_wDVFVTuixUA8dNpOw4TM4XqeuK",
            "const googleAuthCode = \"«4/¦0qRRZDCSSwLDcIKhgDvMIJSA8Yu2DioFzAX9E-mN17cNb-oxGQWgC\
             dvEwy7ue»\";",
            "Google (staging): «4/¦05AzzzPiyXKe77SJACJb3G5U7Sc74nWgdpJc3M5VpaeHcQxECuci1hcGmiLq\
             v»;",
        ],
        kept: &[
            "cp .env.sample .env  # GOOGLE_AUTH_CODE=4/0xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxx",
            "Google documents the 4/0 prefix.",
            "It ended up as 4/004Z... in the report.",
        ],
        ..MARKED
    },
    Rule {
        kind: "fcm-server-key",
        what: "Firebase Cloud Messaging server key",
        literals: &[":APA91b"],
        finder: around(
            "AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}",
            11,
            141,
            Tail::Word,
        ),
        found: &[
            "AA¦AAkfIGdfa:APA91bUX5gcuOZMn6r38duHA7k7QgS3yB6ah9ao9XZ3q_A6hMs5ZaZRlaF2LcfbIP4KOj\
             ct1NNHYlTRx_BAMAKkgRV9viCh1nqAsPObsiq9PDi7QYsY6zKGhiFI_TZAeRpSt-aatShCT",
            "  FCM_SERVER_KEY: «AAAA¦Cx7EpEO:APA91bRz7s1XoETo-tz9lYX3vDlkA7NZhKYapxhqXS6vOZbs8c\
             RyAjA7Q4dWJRV9klHDxThIR3VFDop0k-pJ42wpCxLnGu3lyznnwRSUW6MDaBu0Y498Sz1FcltBi4q688eG\
             uPMqdLCQ»\n  REPLICAS: 2",
            "Der Schlüssel lautet «AA¦AAK7tXBh5:APA91bweoxOmRaBi1XUzjM7YwAWKtEIOfVDD7sw8EA3lwyO\
             -qrol64nlpYt7KVSLYPxJNJlw218qoOya8ukySsXUQjnKqW74V2Ib5ev4pbaBl7zd8ttdhsNj10an5YZZQ\
             qtqVoTK8uVa», gültig bis Ende Juli.",
        ],
        kept: &[
            ":APA91b... goes here",
            "They renamed :APA91b twice at Firebase.",
            "The console shows only :APA91bTxLBCc… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "gcp-hmac-id",
        what: "Google Cloud Storage HMAC access id",
        severity: Severity::Medium,
        literals: &["GOOG1E"],
        finder: shape("GOOG1E[A-Z0-9]{50}", 56),
        checks: &[Check::Digit],
        found: &[
            "GOOG¦1EPS7O5O27XERF7L8WGSEY26AT7E4ADNFMOU2SK5YVW7SUB3R4F3WO7OB",
            "<gcpHmacId>«GO¦OG1EDOXZE3ZW78PEC5TOOJGDTQOTLAOZBEH3J61ZDNUSWXG0D4Q0CHN3YVX»</gcpHm\
             acId>",
            "Replace «GOO¦G1EUPJ8IA2PGZQMV4II3BMKTBQF7DYTVURK3Z14B9MC2K6C631O5KTRRDK»: it was \
             in a screenshot.",
        ],
        kept: &[
            "cp .env.sample .env  # GCP_HMAC_ID=GOOG1EXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\
             XXXXXXXXX",
            "grep -rn 'GOOG1E' src/ found nothing.",
            "Masked: GOOG1ErCR8****",
        ],
        ..MARKED
    },
    // The key alone would be found as a Google key; the token after it opens the room.
    Rule {
        kind: "google-chat-webhook",
        what: "Google Chat webhook",
        severity: Severity::Medium,
        literals: &["chat.googleapis.com/v1/spaces/"],
        finder: shape(
            r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{4,40}/messages\?key=([A-Za-z0-9_-]{39}&token=[A-Za-z0-9_%-]{30})",
            160,
        ),
        found: &[
            "https://chat.googleapis.com/v1/spaces/AAQArXUZHBt/messages?key=«AI¦zaij5RGBuOn7SCK\
             G9GFbD2C3WofhAHrgb7Po5&token=bC8tDEojReYxtNWvKdxx2M4NIokmU6jBJRpUb0aFobk»",
            "webhook: https://chat.googleapis.com/v1/spaces/AAQAs0gGZch/messages?key=«AI¦za5pDl\
             CdNHCfHtUupCySoZaEZYUxH8ihgILQ5&token=CI5k93Tz4KRxiJrZECk1ZCMw2rLLiVupGK37ZZaXqb7»",
            "Post to https://chat.googleapis.com/v1/spaces/AAQA4jwMqQa/messages?key=«AI¦zauw8Sl\
             PIZgyn6gUuWvDu7TnYhxsFzfeG4ddU&token=OYEhm3C24vDYAqm2oRzhg3DwlNb8e6ak6QMQeT5USqp»\
             . It goes to the team room.",
        ],
        kept: &[
            "chat.googleapis.com/v1/spaces/<paste the rest>",
            "Everything from chat.googleapis.com/v1/spaces/ on is cut by the console.",
            "Only chat.googleapis.com/v1/spaces/5jJ was left of it.",
        ],
        ..MARKED
    },
];
