//! Bare values of what builds and checks code.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "github-client-secret",
        what: "GitHub OAuth client secret",
        keywords: &["github"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "    github_client_secret: «b83¦f9c6ae7a85fb9041d294d20790e32d07ced8f»",
            "My GitHub client secret («038¦5d137a836da7607108ed7e9b669a651fb6fba») was rotated.",
            "remember the GitHub client secret «aaa3¦ea3301db6b460bb6a69975a4a2de54e0278d»",
        ],
        kept: &[
            "HEAD is now at 6e5b8911bd91555ecb9c767057852c6e9731c209",
            "Jo set up GitHub in room 17.",
            "The GitHub client secret goes into GITHUB_CLIENT_SECRET.",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitbucket-client-secret",
        what: "Bitbucket client secret",
        keywords: &["bitbucket"],
        finder: bare("[A-Za-z0-9_-]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "| bitbucket_client_secret | «FM¦Qfa4_wmoHxnARIBGsh66qb5ZY-iZ3q» |",
            "the client secret (Bitbucket) → «u6I9¦zefBm_eUEzLVIh3tI803QmygWSvQ»",
            "Bitbucket accepts the client secret `«ykZ¦FszforKe1QE5JihnFQ4R0vq9bP6YV»`, the \
             other one not.",
        ],
        kept: &[
            "Build 7QmyGJWWGuSG7mfbb3PT1d0PCg-vItD1 passed.",
            "Two people at Bitbucket answered.",
            "the Bitbucket client secret lives in bitbucket_client_secret.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "travis-token",
        what: "Travis CI token",
        keywords: &["travis", "travisci"],
        finder: bare("[A-Za-z0-9_-]{22}", 22),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "  - TRAVIS_TOKEN=«NK¦M1_WbApb82MrEOuapZgO»",
            "The new token for Travis CI: «uAwP¦21UsYsKntEIHCAE3gd»",
            "| Travis CI token | «TC¦Y7muOBhcnBYHD9wYThgp» | ops |",
        ],
        kept: &[
            "The folder 3naEZyfFfSwiIYizo7Ehma can go.",
            "Release 3523 drops support for Travis CI.",
            "Travis CI rejects a token that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "circleci-token-old",
        what: "CircleCI token (old)",
        keywords: &["circleci", "circle_", "circle ci"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "os.environ[\"CIRCLECI_TOKEN\"] = \"«9336¦45511dd37e34a78a5116103daf28c7f2f0ad»\"",
            "The CircleCI token «bb¦aebddb9ebfd8a6b1dcc7e363f08743f3a6fc0b» is new.",
            "Jo sent the CircleCI token by mail: «a8¦ed44dd0ac830460792f389b5f2af32977f4a05»",
        ],
        kept: &[
            "Reverted 5a0e4121dd508f4d7f95a4f17921a58f47e3f8b4 on Friday.",
            "The CircleCI page 4232 shows the numbers.",
            "CIRCLECI_TOKEN=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "droneci-token",
        what: "Drone CI token",
        keywords: &["drone", "droneci"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "DRONECI_TOKEN = '«Bw¦U1R1ebpgeWqnm0TwQBWTnnkA2h2p6N»'",
            "The token of the Drone account was «p22¦8RdIYeC0ZbIQ2PyqnQq76iLA0haZC», says Jo.",
            "**Drone token**: `«h3¦uRGPIJmjycDnAVDJpRhshB7VoekuBD»`",
        ],
        kept: &[
            "Look at node SM2HYzz40vneEm44reynnK7WTJejVAoF in the graph.",
            "Drone (plan B) has 6485 rows.",
            "The Drone token goes into DRONECI_TOKEN.",
        ],
        ..KEYED
    },
    Rule {
        kind: "jenkins-token",
        what: "Jenkins API token",
        keywords: &["jenkins"],
        finder: bare("11[a-f0-9]{32}", 34),
        found: &[
            "{\"jenkins_token\": \"«11¦16b626df6a70056d5c3a9dc8d9e46367»\", \"retries\": 3}",
            "Use the Jenkins token «1123¦20d17e1ad340ff3bf6bd339e85cd42».",
            "Log in to Jenkins with the token «11b¦7135307d9aa3474e6c9e6ed2b67e4ab».",
        ],
        kept: &[
            "The recording 118d252812429ddaa63ecf6a40c82ca37e.wav is in the archive.",
            "Jenkins support wrote about case 9679.",
            "os.environ[\"JENKINS_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "coveralls-token",
        what: "Coveralls repository token",
        severity: Severity::Medium,
        keywords: &["coveralls"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "coverallsToken := \"«MhJ¦VRztystNmSETRgcUEKlRlZzG2OlO6»\"",
            "Jo sent the Coveralls token by mail: «ewX¦zTUpG34NBLQWdDG9PqU6aiARzRxgX»",
            "Coveralls wants a token, so I sent «TGh¦CdSqWMPMZleP2UoBNdHbAEleom6DG»; it worked.",
        ],
        kept: &[
            "Parcel vMBYB1u8TlEpFJMpyKxRm7sBu3998tFs arrived.",
            "Our Coveralls contract ends on 2025-11-17.",
            "COVERALLS_TOKEN={{ coveralls_token }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "codecov-token",
        what: "Codecov upload token",
        severity: Severity::Medium,
        keywords: &["codecov"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "CODECOV_TOKEN: \"«83¦1ff59e-be50-966f-5155-5c2d69e9c69b»\"",
            "The new token for Codecov: «fcd¦39558-5d5d-c670-d9ea-64d22bf3bc65»",
            "Codecov accepts the token `«84dd¦9bea-d6a1-ce56-6780-ddb28b03f066»`, the other \
             one not.",
        ],
        kept: &[
            "Device 2886d703-eb6f-21c2-7353-b4ec38e1dec8 went offline.",
            "Codecov returned 503 for job 8435, then 200.",
            "Where do I find the Codecov token?",
        ],
        ..KEYED
    },
    Rule {
        kind: "codacy-token",
        what: "Codacy project or API token",
        severity: Severity::Medium,
        keywords: &["codacy"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "let codacy_token = \"«d08¦fcc6e32cd89f1b2781d43736179cd»\";",
            "My Codacy token («3c¦4f0a2fae2c744a6f0c028ff867f049») was rotated.",
            "the token (Codacy) → «48e¦e349236fc58a64a021566778aba74»",
        ],
        kept: &[
            "ETag d45a752f38f049541d905087a94ce1fe did not change.",
            "Codacy support wrote about case 2822.",
            "CODACY_TOKEN=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "codeclimate-token",
        what: "Code Climate test reporter token",
        severity: Severity::Medium,
        keywords: &["codeclimate", "cc_test", "code climate"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "set -x CODECLIMATE_TOKEN «cf¦9bbc6754344969d322231615e8c59c00e4b78187b33f1173d9535\
             088ac82d7»",
            "Use the Code Climate token «ec¦6b93363e6cfc2317313dcc0c46426ed1262ab11f7298b901bde672\
             e6362415».",
            "Log in to Code Climate with the token «7a1¦b86b5be5050df331851cf9cf317f3667b735e15\
             60d398d9b8c854c7118369».",
        ],
        kept: &[
            "Block 1e8f184b6a26a72bf73547c34a996e63c7c8bffeb3f419167cd3ad38e90cb3bf was \
             orphaned.",
            "Code Climate (plan B) has 8452 rows.",
            "process.env.CODECLIMATE_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "snyk-key",
        what: "Snyk API key",
        keywords: &["snyk"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "snyk_key = «548¦5a97d-0841-aa7e-8198-539ab2a9ffe6»",
            "Snyk key = «a3¦2afdd1-f43a-3006-5215-65020007dbbd», in the vault since June",
            "**Snyk key**: `«9495¦0c7f-2c7f-8083-0ce6-3c6c313a3588»`",
        ],
        kept: &[
            "Trace c1124213-acb8-161b-1924-f410af7f2182 shows two retries.",
            "Release 8310 drops support for Snyk.",
            "snyk_key: 12345678-1234-1234-1234-1234567890ab",
        ],
        ..KEYED
    },
    Rule {
        kind: "semgrep-token",
        what: "Semgrep app token",
        severity: Severity::Medium,
        keywords: &["semgrep"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "$env:SEMGREP_TOKEN = \"«8e¦a1e62ea1db352b37cc4c91ae4801d3d1ec601d7b35da70f4933f876\
             963d948»\"",
            "The Semgrep token «b656¦d811cecc5d1ae90cfe091fa470c2cf4f7bdb20d1bc55c265135671d434\
             69» is new.",
            "Old Semgrep token: «033¦751ed9bf4f97cfdeeffd315162ace17149797381b3debde66cfd5aaba8\
             9d5». Delete it!",
        ],
        kept: &[
            "The image was sha256:5b6814a8f1a29b3604398886b2e585c41a558b11c96fb79e3c7570164a825\
             7fa.",
            "We moved away from Semgrep, see ticket OPS-2108.",
            "SEMGREP_TOKEN=1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "sonar-token-old",
        what: "SonarQube token (old)",
        severity: Severity::Medium,
        keywords: &["sonar", "sonarqube", "sonarcloud"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "SONAR_TOKEN=«56a3¦eae5041075771e0b3646bc25b9381ad1194a»",
            "The SonarQube token is «480¦5ac24660677e6b84aa96cb355d53be8aa5121».",
            "For SonarQube we use the token «2ac¦6611c91f01c018d515a3a3ac6b4154c8ba04f», valid \
             until May.",
        ],
        kept: &[
            "Merged at 3354478ec26f3fc099895b6c8c962f7d3bee7961.",
            "The SonarQube plugin at bbf20a7594b672d4472c7ec2324b8a3c87471d82 fails on Windows.",
            "SONAR_TOKEN=${SONAR_TOKEN}",
        ],
        ..KEYED
    },
    Rule {
        kind: "buildkite-token-old",
        what: "Buildkite token (old)",
        keywords: &["buildkite"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "let buildkite_token = \"«79¦d092a4c7537007847987352e7ec47904b7e388»\";",
            "The token of the Buildkite account was «449¦dc7964acddc5807309a40077087e9f165c1b2»\
             , says Jo.",
            "Buildkite 的 token 是 «b10¦4187c418902c12d720c23dda806c153d3b889»。",
        ],
        kept: &[
            "git show d401763b075fc160e96cc5d06d9e0bd2a9c7dc01",
            "I like Buildkite, but the limits are tight.",
            "BUILDKITE_TOKEN=%BUILDKITE_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitrise-token",
        what: "Bitrise access token",
        keywords: &["bitrise"],
        finder: bare("[A-Za-z0-9_-]{86}", 86),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "{\"bitrise_token\": \"«rNl¦w0UrJc0UoyPn7aKaYZhnFX6ho-KyLloKaXZJq5Ciod8ITmM-lOLbRsQ\
             oY1vOrGDtpE7DaSkz_Sa2FfGIEIY»\", \"retries\": 3}",
            "I think the token of our Bitrise test account was «9u¦pTxX5NlWkSA5TvUYrhBigApgwI30CV1\
             pXpQz5rP-BZkcLD-GTFBMNAwur7mVzT3u5KDp7GJPdP2hQr1uJb5y».",
            "remember the Bitrise token «_Q3¦OrX7jjpUR_ok5eVsLRTi2LEnZW6pBXJeTAYQi0DNfywYNLQXex\
             3jhJbJ6qOosoVQUa8hHphQiDjHzChPXH6»",
        ],
        kept: &[
            "Row U4byab9uZ08yYgD9EUzWWcBWavHBw5pkSNFi7jwMJYxq9Jy7JLPx6ukwyCKra_aNGbDZTYaheZeOqa\
             xEKYJ6tA of the export was empty.",
            "Bitrise was down from 10:00 to 10:20 on 2024-03-24.",
            "BITRISE_TOKEN=YOUR_BITRISE_TOKEN",
        ],
        ..KEYED
    },
    Rule {
        kind: "codemagic-token",
        what: "Codemagic API token",
        keywords: &["codemagic"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "  - CODEMAGIC_TOKEN=«GS¦OdaUq9urArKZelzNlC3IZeUOQozJ3ydy9y14Kph1d»",
            "- Codemagic token «9p¦2NR8BsihfUSz8WYWaNXkrcsSsPUvaN1cnNCHOJI9t»",
            "Copy the Codemagic token <«WS0Q¦AakF4bDajo5N2_BnYHkh1m8tgOLghFuADEHLZmT»> to the \
             phone.",
        ],
        kept: &[
            "Look at node YqU6xhxnfrJcczjw6mTcFjgbDai2dcJcrNT6CCn8viF in the graph.",
            "The Codemagic client was upgraded to 4.16.1.",
            "codemagic_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "appcenter-token",
        what: "App Center API token",
        keywords: &["appcenter", "app center", "app_center"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "APPCENTER_TOKEN: \"«b01a¦5debabde1d71888478de48e0843b6020b9df»\"",
            "App Center token: «50¦a706a7eb672e5c6884d60e821a3057836999f3»",
            "Notre token App Center : «2cb9¦6fccd79f1fda3464dc6a2b043b21f12314bf»",
        ],
        kept: &[
            "HEAD is now at 9ad1873ec4cd61457152abf8d29e5ba252ccd4d7",
            "Two people at App Center answered.",
            "App Center token: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "expo-token",
        what: "Expo access token",
        keywords: &["expo_", "expo "],
        finder: bare("[A-Za-z0-9_-]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* expo_token: `«MS¦DoDqGUIg8Ik8Qod4DN0OTDLAFruMaCN3a6EfHU»`",
            "| Expo token | «CO¦OyP5DQHj7XKGtS_6bRVnTt1DYNaTYLj6p5UFBa» | ops |",
            "| Expo token | «iQ¦NREX3Phlw9Jw94mxP4I7kr64m3odme3s1aPcGZ» | ops |",
        ],
        kept: &[
            "Part eMxXfEEuOkPJdbdHQwrPmstjLlraUleYODIdc6Cn is out of stock.",
            "Jo set up Expo in room 24.",
            "the Expo token lives in expo_token.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "browserstack-key",
        what: "BrowserStack access key",
        severity: Severity::Medium,
        keywords: &["browserstack"],
        finder: bare("[A-Za-z0-9]{20}", 20),
        checks: &[Check::Random, Check::Digit, Check::MixedCase],
        found: &[
            "ARG BROWSERSTACK_KEY=«UdTA¦kapT4RYz8RalrU35»",
            "The BrowserStack key «4l¦aFTeYFAXoF66Cev027» is new.",
            "The BrowserStack key is «mBX¦ICb2jk6lmbsga1MIN».",
        ],
        kept: &[
            "Parcel BwtTFJsNnxrqFbV4QqW0 arrived.",
            "The BrowserStack adapter was built from commit \
             cdbb52ffd62dd3c00e05e43c8f0a363bae4112ca.",
            "BROWSERSTACK_KEY=<paste it here>",
        ],
        ..KEYED
    },
];
