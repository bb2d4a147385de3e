//! Bare values of hosts and of what runs on them.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "hetzner-token",
        what: "Hetzner Cloud API token",
        severity: Severity::Critical,
        keywords: &["hetzner", "hcloud"],
        finder: bare("[A-Za-z0-9]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "hetzner_token = «b3UG¦TovF1TwfmChFt2OF62uLy617tdHmDDe3gN9RCGuME6tiqzNoepRMyBelbH7L\
             »",
            "My Hetzner token («VZi¦I7wP4dWFpuuCxtpSBhRVFCri6uq5FMuimk6ywAoSlaK29e1ifLyuD2WQl49\
             BC») was rotated.",
            "The Hetzner token is «Xe¦h2kV99tgT5kiufUGFdI8Uvg4hU2bl5nDG9a3JauIZHTnIQJHbI3FcjuBI\
             mdzMU».",
        ],
        kept: &[
            "Row y1yF2HJilRpk8prhE2rfroQZ5H8UvzPKkxbcZq0JAlqzhYXv2zBYkpKHIyXWpkho of the \
             export was empty.",
            "The Hetzner page 9488 shows the numbers.",
            "The Hetzner token goes into HETZNER_TOKEN.",
        ],
        ..KEYED
    },
    Rule {
        kind: "scaleway-secret",
        what: "Scaleway secret key",
        severity: Severity::Critical,
        keywords: &["scaleway", "scw_"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "scaleway_secret=\"«9e4¦1904f-4985-317d-9421-6ccced466c71»\"",
            "Use the Scaleway secret «2a7¦39300-657d-8f50-7933-11d1179306a7».",
            "- Scaleway secret «520¦fbb74-0cb3-c53e-b6be-b8b01895e014»",
        ],
        kept: &[
            "Request 3f93c1b6-5f0b-3e12-414a-c8e99e94d7a6 took 40 ms.",
            "I like Scaleway, but the limits are tight.",
            "SCALEWAY_SECRET=12345678-1234-1234-1234-1234567890ab",
        ],
        ..KEYED
    },
    Rule {
        kind: "netlify-token-old",
        what: "Netlify access token (old)",
        severity: Severity::Critical,
        keywords: &["netlify"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "$env:NETLIFY_TOKEN = \"«VZ¦0CyYoZhHF-SsJPQRZahuqLlomJUQePS6ENvHlVjjM»\"",
            "remember the Netlify token «jQ¦sh0xkrpbuDRVPqe-kHu8lVOLKSsErygWclP8pBNNM»",
            "I think the token of our Netlify test account was «KS¦AhBa2OTrJgGaaysi1ISPP11RZIcRBGE\
             V-5WcRezWH».",
        ],
        kept: &[
            "The folder FsNfbG8qwL9_NnHLPdBFpPjO9VOFCQKFSlOe9JTkXWC can go.",
            "Netlify was down from 10:00 to 10:20 on 2024-03-15.",
            "NETLIFY_TOKEN=${NETLIFY_TOKEN}",
        ],
        ..KEYED
    },
    Rule {
        kind: "fastly-key",
        what: "Fastly API token",
        severity: Severity::Critical,
        keywords: &["fastly"],
        finder: bare("[A-Za-z0-9_-]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "os.environ[\"FASTLY_KEY\"] = \"«zL¦N2L4p-zTQLCQ6Hqn_fx5htedA03M1d»\"",
            "Fastly token: «Px0P¦d-Kv9xp1VYfkDXBaLyNTnFlhklRL»",
            "the token (Fastly) → «XgWM¦C7ct63GEyx0_peFy_rM0oUYa0Zft»",
        ],
        kept: &[
            "Part HGTBpcWYOxdtGVn9HU8wPO0WVCnKSxVM is out of stock.",
            "Fastly returned 503 for job 4110, then 200.",
            "FASTLY_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "ibm-cloud-key",
        what: "IBM Cloud API key",
        severity: Severity::Critical,
        keywords: &["ibm", "ibmcloud", "bluemix"],
        finder: bare("[A-Za-z0-9_-]{44}", 44),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ibm-cloud-key = «ei0d¦DXUqeEuww9jOLKON7xgEbDpybX9sYg8NclqcUWvK»",
            "| IBM Cloud key | «Cj0B¦OpWx-d9KEFG5HSW94x_5oRfJmfX-IL-RtJLamYe1» | ops |",
            "The key of the IBM Cloud account was «3oC¦H5xoFe3MonVk9kVRUfGBvwE3LYwVodgc2wOW9xDC\
             j», says Jo.",
        ],
        kept: &[
            "Look at node eDXI_2vUfdzhL41Ds7HO1xjlBL-LCk5_upQD7eMEpGcv in the graph.",
            "The IBM Cloud adapter was built from commit \
             e55040bd2fd31fe432053a442f55fa6598453eac.",
            "ibm_cloud_key: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "alibaba-secret",
        what: "Alibaba Cloud AccessKey secret",
        severity: Severity::Critical,
        keywords: &["alibaba", "aliyun"],
        finder: bare("[A-Za-z0-9]{30}", 30),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "alibaba-secret = «jP¦AVTsrwVzkC4EpOwMGWt2FtJL5x5C»",
            "Notre secret Alibaba Cloud : «3PsQ¦qjrqSRjTEk7SrquBnDdxUyyab2»",
            "The Alibaba Cloud secret «vgIw¦74aEKr6Fyp6Meo9IqO1EltmHiY» is new.",
        ],
        kept: &[
            "Parcel zcfxunrPHbtJx0vvRsLtij6nP6MFV0 arrived.",
            "The Alibaba Cloud plugin at fe2e7bedeb49fe882999c66795ed4dea6114ef83 fails on \
             Windows.",
            "ALIBABA_SECRET={{ alibaba_secret }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "tencent-secret-key",
        what: "Tencent Cloud SecretKey",
        severity: Severity::Critical,
        keywords: &["tencent", "qcloud"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "TENCENT_SECRET_KEY=«Sa¦VZUMXbqXEYtyWR9DJTWsJrbRKfPddK»",
            "Copy the Tencent Cloud secret <«vb7s¦6U5RskdozT4rX367Qn1u7BxCevVS»> to the phone.",
            "Log in to Tencent Cloud with the secret «Zcx4¦4dHkqIEWL9geZjZxevuR0ltl27wL».",
        ],
        kept: &[
            "Part G4iKHbkusWTAHv2EkDnLnVBMfrL5xPdM is out of stock.",
            "The Tencent Cloud client was upgraded to 4.10.1.",
            "Tencent Cloud secret: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "digitalocean-token-old",
        what: "DigitalOcean API token (old)",
        severity: Severity::Critical,
        keywords: &["digitalocean", "digital ocean"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "const digitaloceanToken = \"«c731¦8ee8d48f59ae6dae107f5fa8b21dc8c4053b9368028e44fa\
             61fd4af22b1b»\";",
            "The new token for DigitalOcean: «f06¦765e318aeeeb74675dd533d01350eb31e95cf9727a90f\
             d7a052cdfdb2e4f0»",
            "**DigitalOcean token**: `«4a¦30eee591eb0c844ac3bd909583010dbe93ed06cca852cba51b966\
             4da8bb7b7»`",
        ],
        kept: &[
            "SHA-256 of the release: f36b7852d9d18cb0af93d648c258694cb5e05d249d3975862c715715a4\
             0a208e",
            "DigitalOcean costs more since 1558 users joined.",
            "DIGITALOCEAN_TOKEN=1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcde\
             f",
        ],
        ..KEYED
    },
    Rule {
        kind: "railway-token",
        what: "Railway token",
        keywords: &["railway"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "ENV RAILWAY_TOKEN «7c7¦6c00e-fd45-f045-0451-ec7920af96ee»",
            "Jo sent the Railway token by mail: «1ba4¦9fb1-d524-d36c-7adf-cbcfdab3ea1a»",
            "Railway token = «fe¦4f7fe2-ddf5-652b-4ef9-a24ef45c8244», in the vault since June",
        ],
        kept: &[
            "Order 51492269-462f-0c5d-6603-53cbe3bdce07 was shipped on Monday.",
            "I like Railway, but the limits are tight.",
            "Where do I find the Railway token?",
        ],
        ..KEYED
    },
    Rule {
        kind: "exoscale-secret",
        what: "Exoscale API secret",
        severity: Severity::Critical,
        keywords: &["exoscale"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "exoscale_secret=\"«m7j¦1dto4RUIWlt9C-Hhsq7in_F_HVqaIsDWZqiodsPl»\"",
            "Exoscale wants a secret, so I sent «Z2rl¦OCSYnIFY3GfDbvatgnDRQHYqnUqNPRX465Dt0lp»\
             ; it worked.",
            "Old Exoscale secret: «vCr¦XqSe7RLQEgqA-hjqj3AuM2v7XEjI5CXTrfh5Lj9R». Delete it!",
        ],
        kept: &[
            "Look at node 8pdeFOLyN1waMJODWs9bhzSflQLYBDumSsBG19F_hOh in the graph.",
            "Exoscale returned 503 for job 9478, then 200.",
            "Exoscale rejects a secret that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "civo-key",
        what: "Civo API key",
        keywords: &["civo"],
        finder: bare("[A-Za-z0-9]{50}", 50),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ARG CIVO_KEY=«MUS1¦455reF0oTxoBnQGoZbRIrpU214LbaqzDLYn8iET8BZp2lY»",
            "For Civo we use the key «lQB¦PBiJaGlzmgfd3HFej8rM5B8zFzOqEYctYQq7kwB3bb9q6Bi», \
             valid until May.",
            "Civo 的 key 是 «5k¦YXVj5q97dk01soqcji3bOCPIcfF6fM4HMmBcldXWn7KTIdQ1»。",
        ],
        kept: &[
            "The folder EZ5wuKxWoOz3QLMUXRDYukfqzwGLWu16EIjS1kSKeuSrA1N8Lb can go.",
            "Our Civo contract ends on 2025-11-19.",
            "CIVO_KEY=YOUR_CIVO_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "zerotier-token",
        what: "ZeroTier API token",
        keywords: &["zerotier"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "# ZeroTier\nZEROTIER_TOKEN=«UyQO¦ns0VvMUlaomGhD6uzx1kKL3pfZgO»",
            "ZeroTier accepts the token `«QzDm¦YH1rLvCuh6qCHpiqPtAv0qJ55mCG»`, the other one \
             not.",
            "ZeroTier: token \"«362l¦3mA6qyghXzCxPDnhCzvZvJRwJ8BH»\"",
        ],
        kept: &[
            "The recording qnMEEnmrx6jNXl9tNMH92jpO8At3puTh.wav is in the archive.",
            "The ZeroTier plugin at 0ef779f36bceeed185738b1cc4cc0cd6d9bf3e72 fails on Windows.",
            "zerotier_token = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "meraki-key",
        what: "Cisco Meraki API key",
        keywords: &["meraki"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "MERAKI_KEY=«0833¦88aaf80a6a294c6f4edb41156184a67b9fbe» make release",
            "Cisco Meraki key = «e2¦8c85e71fe3362cbea58681c08bf62a5e8ddf44», in the vault \
             since June",
            "The Cisco Meraki key is «6414¦0d5b647421338e211e927b7d1fa32d16cc08».",
        ],
        kept: &[
            "Bisect says e4531a533964aabc833b1d01f440e1e1dd8af23b broke it.",
            "The Cisco Meraki invoice 4580 came to 49 EUR.",
            "MERAKI_KEY=%MERAKI_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "okta-token",
        what: "Okta API token",
        severity: Severity::Critical,
        keywords: &["okta", "ssws"],
        finder: bare("00[A-Za-z0-9_-]{40}", 42),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* okta_token: `«00¦fZJiQiSSTdls7CiTzrRB_B5QzyHJotcRTJy3671S»`",
            "Okta 的 token 是 «00¦mE9ulchj6a5uhQAdUqqDwH5Rjqb6wLGSjpEBZCG7»。",
            "Old Okta token: «00j¦kmmpH7EcY9on8PI0qHvhiANZp0MlXWSDUeXMQ22». Delete it!",
        ],
        kept: &[
            "Parcel 00n-AYAIQN_3gQituJkYtlDK8XLDKpTf_1pMrgldk2 arrived.",
            "We moved away from Okta, see ticket OPS-3540.",
            "OKTA_TOKEN=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "vault-token-legacy",
        what: "HashiCorp Vault token (old)",
        severity: Severity::Critical,
        keywords: &["vault"],
        finder: bare(r"s\.[A-Za-z0-9]{24}", 26),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "$env:VAULT_TOKEN_LEGACY = \"«s.1C¦lezdgA8pp7nBE2D8ZchJsZ»\"",
            "For HashiCorp Vault we use the token «s.¦V0cGQFjOfoEBK3xhe8GUS1g2», valid until \
             May.",
            "I think the token of our HashiCorp Vault test account was «s.8R¦CJHJWBVLzIcUuLYtUGL6v\
             m».",
        ],
        kept: &[
            "Row s.M6uFa0p26BmnGaf6ZVstKiqw of the export was empty.",
            "Ask Mira who owns the HashiCorp Vault account.",
            "process.env.VAULT_TOKEN_LEGACY",
        ],
        ..KEYED
    },
    Rule {
        kind: "consul-token",
        what: "Consul or Nomad ACL token",
        severity: Severity::Critical,
        keywords: &["consul", "nomad"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "consulToken: «fc¦08a98c-9eab-0e2b-9a7b-73101e4bca06»",
            "Consul or Nomad wants a token, so I sent «ac3¦09724-f41a-736c-9c6b-a553d7ec1724»; \
             it worked.",
            "- Consul or Nomad token «8a2¦3b72f-9e15-eb0e-cc23-ef820c00c381»",
        ],
        kept: &[
            "The row 6a5474d8-062d-bf69-c031-75fb5b155bfa has no parent.",
            "The talk about Consul or Nomad starts at 10:15.",
            "CONSUL_TOKEN=${CONSUL_TOKEN}",
        ],
        ..KEYED
    },
    Rule {
        kind: "kubeadm-token",
        what: "Kubernetes bootstrap token",
        severity: Severity::Critical,
        keywords: &[
            "kube",
            "kubeadm",
            "kubelet",
            "kubernetes",
            "k8s",
            "bootstrap",
        ],
        finder: bare(r"[a-z0-9]{6}\.[a-z0-9]{16}", 23),
        checks: &[Check::Digit, Check::Random],
        found: &[
            "\"kubeadm_token\": \"«8hy¦ne4.08vug1h5drtdczsh»\",",
            "Kubernetes: token \"«1yd¦ygt.1b7i569ctzi71bop»\"",
            "Notre token Kubernetes : «lqjp¦bz.07t1e7rm9636kx79»",
        ],
        kept: &[
            "Build xgcuwj.zbmmlnlf6q6ztcl6 passed.",
            "Kubernetes was down from 10:00 to 10:20 on 2024-03-13.",
            "os.environ[\"KUBEADM_TOKEN\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "truenas-key",
        what: "TrueNAS API key",
        keywords: &["truenas"],
        finder: bare("[0-9]{1,3}-[A-Za-z0-9]{64}", 68),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "export TRUENAS_KEY=«3-tP¦rVSPLnNGg4tXGAuisxRzt4nVNoaBjNVPTdglfntYLAzprp2l25h5RnQjr\
             erm6o»",
            "TrueNAS key: «143¦-emEjvxwpMPvAQs2mEz6jjgvNT4OGk1ZhU1ml25V7GsxYVGhUrqdOCBwcuXarmXz\
             b»",
            "Copy the TrueNAS key <«9-A¦zPzSTjsMT8tQcV80eLl5pRB6R3EPPVWZO8WrKGOBBfxjINyKubJu93K\
             UEfWvXiJ»> to the phone.",
        ],
        kept: &[
            "Part 035-FdjBDQ4ibWO65HuReOHaiUd7mlRcwaCksGJyIXbfcdDDnD5HnhoScxTd1JIDrScI is out \
             of stock.",
            "The TrueNAS adapter was built from commit \
             5c54b23a75e138d906171c4f0aa318b9e784844c.",
            "TRUENAS_KEY=<paste it here>",
        ],
        ..KEYED
    },
];
