//! Clouds: Amazon and Microsoft.

use super::{MARKED, around, shape, tailed};
use crate::redact::rule::{Check, Rule, Severity, Tail};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "aws-access-key-id",
        what: "AWS access key id",
        literals: &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        finder: tailed(
            "A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z2-7]{16}",
            20,
            Tail::Exact,
        ),
        found: &[
            "ABI¦AKO7ZU6I4G4SLVUUJ",
            "os.environ[\"AWS_ACCESS_KEY_ID\"] = \"«AS¦IA5KH7PJVGHRODOVT5»\"",
            "Use «AKI¦A72U424TSAIH2KL3L». It works from the office too.",
        ],
        kept: &[
            "aws_access_key_id: \"AKIA…\"",
            "return s.startsWith('AKIA');",
            "AKIAIOSFODNN7EXAMPLE stands in the manual of AWS.",
            "The word ASIANMARKETSHAREREPORT2 is a file name.",
        ],
        ..MARKED
    },
    Rule {
        kind: "aws-session-token",
        what: "AWS STS session token",
        literals: &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
        finder: tailed(
            "(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9/+=]{100}",
            112,
            Tail::Base64,
        ),
        found: &[
            "FQ¦oGZXIvYXdz7lAYykxPOoAuegIV0zYh+FNhqFMF9TOAmBzX/mpe54YaDHn/EtzoLvoB10/COAjZa0pj+\
             YJwg5Wv17E/3co6gkhVMK3BfTXMZH8SPPg6c1hKZuw3ayE002GiIG9I3EkXAXHBAxxjOfmA7QWexOwdRQF\
             zxM6W2KRxm6dbtdI2BhdcyV0cmXjZY126pGIv37ohsLOCR8DWfODTLYQwlDr6AJGCBJSb",
            "| name | value |\n|---|---|\n| aws_session_token | \
             «IQoJ¦b3JpZ2luYj1jcDcGwtgz182rR5RXl5Qgh4NnigWBtmWGcWX=KPXIz84PUYWo4AJVXonEwx+k5O+5\
             UUSjaCrmKA2Wbt1S0dFKPs6AbfeKHsBsWiBBVXPQUwE3iS71qm5x0lxe3QZ6GkwQXMq6uAoxMEtMB7xkUR\
             ZHsEjjl2hqdhB6C1PQYU24MXGaUmoDPYw825gaiMlOfAqYaihBY9n8ZTFFdq0xdUa8Q7tT» |",
            "Mira wrote: 'take «IQoJ¦b3JpZ2luaZKOb=7dAu1BXK8e7ee4XQOSgZzwP1IVAgWDq0MiVKLOZSqFDT\
             zpv1flK=b/+ijgvABMW/IinKDNVGx0RmpBaPi92P6opCW7o7LtosXw8VEA3ob6wdvMoDDnw7izTXLxxEzy\
             08wP5OhjIzCmctlTJRrubbBsAgGUmLZOw3GEtn7yYfh44RtBq4Wh2WPlw3bV0rPVjgPFgucXaBG6NrAd4p\
             EixGTx»'.",
        ],
        kept: &[
            "AWS_SESSION_TOKEN=\"IQoJb3JpZ2luxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\
             xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"  # replace me",
            "Is the part after IQoJb3JpZ2lu random?",
            "Only IQoJb3JpZ2luYx6U1 was left of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "aws-bedrock-key",
        what: "AWS Bedrock API key (long-lived)",
        literals: &["ABSK"],
        finder: tailed("ABSK[A-Za-z0-9+/]{109}", 113, Tail::Base64),
        found: &[
            "AB¦SKnYzVB3LXnmiJgImIQ7QXXWtnNtKzOXhzAJDs3RThWR8CHOcBmX5NL04rNGcsYrOySG6NnzUN8u8R2\
             Qf5GPmOdoeUriC/o06qoX3BYdr1w3LMvOv3JfwX7c5Dg8gPyvpLFzSz",
            "  - AWS_BEDROCK_KEY=«ABS¦KLrMrM/iv7VshuVjvYKE0VkZ2XHlY9VpwSejixrN6hXAZ6Qbg3FVS363h\
             M70mmVteGtJ1NPgpbYDA09E+QKTevc85AuI0UyA3FnbnQG+fS6ltuSzSHF8KaSW1Ry0UCDQYouVP»",
            "\"«AB¦SK0UJ4RgFtkWcDuzHSV8HTsQheGkvkBfIeGvJ7Hr5zx+Js78l9y7zOD/QeIZL7p4RDVrCmUof4ll\
             Sai+zLc1nW/5YpLuil9870RidahyZ5Ps1A32pYIgMG2Lp5JOk115MUxWxj»\" is what AWS sent \
             back.",
        ],
        kept: &[
            "ABSK<paste the rest>",
            "/^ABSK[A-Za-z0-9]+$/",
            "Masked: ABSKQQzDrQ****",
        ],
        ..MARKED
    },
    Rule {
        kind: "aws-bedrock-short",
        what: "AWS Bedrock API key (short-lived)",
        literals: &["bedrock-api-key-"],
        finder: tailed(
            "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/]{8}",
            52,
            Tail::Base64,
        ),
        found: &[
            "bed¦rock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29taPDiO1pYrPB59zBzJnOa9PCHQ2UolactPZekz\
             q4VAURAVavCJSH6ECji8tsE0B1ll4fVjE9oJF9yyuHK3Z4vQfQ4LZARQ23CvrpwMPfh31BV4S8tjXQ43L5\
             WG2xJ4MGP",
            "AWS_BEDROCK_SHORT=«bed¦rock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t6dOPI6+zFDKPoo8YqH\
             7sKtewzyWglFRp4s1YrUZ6Ea2oVqBoBz3pvQGaphug7jLDDMgRk4qWjQPZkcxwP9QcoTcFmeCGOVXOkbkx\
             4Mpd2Vu3N4IXjgZafkKmnT4qlEUU»",
            "> «bedr¦ock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t9jA6haPSqhAK3fEpQRO3nBrpu5COV9pq7i\
             tp07I3asdmSo6LJEOaZdraoYrhFV1Kh8YnH94nq3YifyrpgWqbhad9Mtd7FHWqApyFpQqojT7SNE7c8v9E\
             VldThouwab16»\n\nwas in the ticket.",
        ],
        kept: &[
            "`bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29txxxxxxxx` in the docs",
            "Nothing in the dump has bedrock-api-key- in it.",
            "bedrock-api-key-Gtnf is too short for AWS.",
        ],
        ..MARKED
    },
    Rule {
        kind: "aws-mws",
        what: "Amazon MWS auth token",
        literals: &["amzn.mws."],
        finder: shape(r"amzn\.mws\.[0-9a-f]{8}-[0-9a-f-]{27}", 45),
        found: &[
            "amz¦n.mws.e93b8c66-29d3-1d44-7f31-9f7e60d4ee96",
            "{\"awsMws\": \"«am¦zn.mws.51e0c113-e912-f127-3085-cee3dc70fb13»\", \"retries\": 3}",
            "1. Copy «amzn¦.mws.d603244b-0b6d-7876-5904-d4148c24ac32»\n2. Open Amazon\n3. \
             Paste it",
        ],
        kept: &[
            "The README says amzn.mws.12345678-1234567890abcdef1234567890a.",
            "What Amazon hands out begins with amzn.mws. these days.",
            "Row 7: amzn.mws.7f82…",
        ],
        ..MARKED
    },
    Rule {
        kind: "aws-appsync-key",
        what: "AWS AppSync API key",
        severity: Severity::Medium,
        literals: &["da2-"],
        finder: tailed("da2-[a-z0-9]{26}", 30, Tail::Exact),
        checks: &[Check::Digit],
        found: &[
            "da2¦-qaspiarha2bpru39vq426dbykz",
            "| AWS | `«da¦2-0ro3nsdz60rcxtu1c1u7elglmq»` | staging |",
            "That was «da2¦-2kupjb2x9wa1yj5bbb5a34dna9», as far as I remember.",
        ],
        kept: &[
            "The sample has da2-xxxxxxxxxxxxxxxxxxxxxxxxxx, which is no real one.",
            "\"da2-\" => \"AWS\",",
            "AWS answers: bad value da2-6EWp…",
        ],
        ..MARKED
    },
    Rule {
        kind: "amazon-client-secret",
        what: "Amazon Login with Amazon or Selling Partner client secret",
        literals: &["amzn1.oa2-cs.v1."],
        finder: shape(r"amzn1\.oa2-cs\.v1\.[a-f0-9]{64}", 80),
        found: &[
            "amz¦n1.oa2-cs.v1.8a8b29a073fc0e9528dd35b87f6de6ab65e4a5aa090435dac657e1822e1cbd0e",
            "amazonClientSecret: '«amzn¦1.oa2-cs.v1.0ecd668bcfb2c1ca85a7baa29aa3b1ddf4404c203ec\
             557b5041989643efacc66»',",
            "Replace «amzn¦1.oa2-cs.v1.36618cb2b2ae6ca1eadd85529daeae68417ba4a0f9eb1a451535bede\
             88a74a30»: it was in a screenshot.",
        ],
        kept: &[
            "amzn1.oa2-cs.v1.1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
            "A value with amzn1.oa2-cs.v1. in front comes from Amazon.",
            "The list had amzn1.oa2-cs.v1.3bf (cut off).",
        ],
        ..MARKED
    },
    Rule {
        kind: "amazon-lwa-token",
        what: "Amazon Login with Amazon access or refresh token",
        literals: &["Atza|", "Atzr|"],
        finder: shape(r"Atz[ar]\|[A-Za-z0-9_-]{100}", 105),
        found: &[
            "At¦zr|f3rK64ZlyAZ6qVlgbrjbUHgPRYOYuxq5lNtQueXSB-HiinIKYCy9Svlbg92EPInU0EVUHPOU8lEc\
             yFblww9s73KTA6WdmlcmXtxIhH52EKJrkiU74DXAFgyIK8rCh9HHXorKE6ku1aOoRcEs6E5CFbpgCirdLm\
             6v",
            "let amazon_lwa_token = \"«Atzr¦|5Q4n_7hKyTpZjgNlIFVGGTBo-BiovPDsRnqgOKYhl5CD6TRa0y\
             VEAausUAe4FSzWPhKwY9OU5kPbBwqRpKEJ6D4tcJ8YMN9art6muapDV7C6ju7cD5Pj7wHFvzcQKiRWjfOS\
             ezvX5Hw6gpiX5pieYkR73Cga1g7M»\";",
            "Both of them: [«At¦za|LK6DI24mTCMyTJByLieMC76hmDUZSx57AxcgXwT2PXl9CD1_jGnK9C_q77fb\
             3aU4Go2lfII9fxzsGi2j932DJnwQbzHgMYEabXJbwEeRO8dk8I7XvNLXjpUdca7fIuJXojhyOeSNPXhTRL\
             Qjb6XvkfiKRPKqhOgB»], and nothing else.",
        ],
        kept: &[
            "os.environ[\"AMAZON_LWA_TOKEN\"]",
            "Search the logs for Atza| and tell Amazon.",
            "In the mail I could read Atza|boWvU and then a smudge.",
        ],
        ..MARKED
    },
    // The marker `Q~` stands behind three characters and a digit.
    Rule {
        kind: "azure-ad-secret",
        what: "Microsoft Entra client secret",
        severity: Severity::Critical,
        literals: &[
            "0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~",
        ],
        finder: around(
            "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
            3,
            37,
            Tail::Word,
        ),
        checks: &[Check::MixedCase],
        found: &[
            "G8¦n1Q~ayGUS6WT9vipToYlGzdU3q~xsQqNLCCK",
            "azure_ad_secret=«na64¦Q~e8NBTDC_arg9gYgY19JYb5rB3W2IEr90B»&page=2",
            "He read it out: «LYP¦8Q~GV2wXy18-lr2V.~ATn43IGB1~wHtCQw2yn». Nobody noticed.",
        ],
        kept: &[
            "process.env.AZURE_AD_SECRET",
            "The Q~ ones belong to Microsoft Entra, ask them.",
            "a8Q~ is how the middle of it looks",
        ],
        ..MARKED
    },
    // Four letters near the end name the service; a checksum of Microsoft's follows them.
    Rule {
        kind: "azure-identifiable-key",
        what: "Azure key with a built-in signature (storage, Cosmos DB, Batch, registry, functions, search, AI)",
        severity: Severity::Critical,
        literals: &[
            "+ASt", "+ABa", "+ACR", "+AEh", "+AMC", "+ARm", "+ASb", "ACDb", "AzSe", "AzCa", "APIM",
            "ASbE", "AZEG", "AIoT", "AzFu", "JQQJ99", "JQQJ9D", "JQQJ9H",
        ],
        finder: around(
            r"(?:[A-Za-z0-9+/]{33,76}(?:\+A(?:St|Ba|CR|Eh|MC|Rm|Sb)|ACDb|AzSe|AzCa|APIM|ASbE|AZEG|AIoT|JQQJ9[9DH])|[A-Za-z0-9_-]{44}AzFu)[A-Za-z0-9+/_-]{5}",
            76,
            11,
            Tail::Base64,
        ),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "rpk¦XZd6AxGpd41PEdh4xlpKbIOM8ZyxqLALdsM76Nx+ACRJYbRjf",
            "  AZURE_IDENTIFIABLE_KEY: «3xu¦TUGAtxo6XOkYeb3wTU69gX9brddbe7ED6BrLIVYAzSeBb72HV»\
             \n  REPLICAS: 2",
            "cat .env showed \"«RSW¦r9bqGmi2FX6bJ3mhIrBc24AAUpx5phEdV6os5Hv+ACRd6wkzG»\".",
        ],
        kept: &[
            "e.g. xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx+AStxxxxx",
            "Azure changed to the +ASt form last year.",
            "Azure prints +AStPqzfU*** and no more.",
        ],
        ..MARKED
    },
    Rule {
        kind: "azure-devops-pat",
        what: "Azure DevOps personal access token (new)",
        severity: Severity::Critical,
        literals: &["AZDO"],
        finder: around("[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", 76, 8, Tail::Exact),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "oK¦9sjsGS0rusmK0p22s6twSh10XQ3s6APG21KA9M5VFhPKxSOlwT9yjdGSw4LueNi8tls3htNlstAZDOE\
             gTz",
            "<azureDevopsPat>«Vbx¦SqCC88rljny0pGlUISb9U5Mw0484qEVfRJAjRQxCk8Fzd3jDi1vv48un662sZ\
             a6YZRDYEC4FXAZDO2yM0»</azureDevopsPat>",
            "We use two at Azure DevOps: «2Db¦y1F7zvgsbWgXRq8QkShG9k8QOrNK3DOAngCwQfDQAdLsl0Qt8\
             09Nzgk7cB5Dn3cMqTYXBaAWtAZDOVltm», and one more for tests.",
        ],
        kept: &[
            "AZURE_DEVOPS_PAT=${AZURE_DEVOPS_PAT}",
            "Azure DevOps: the ones with AZDO",
            "The screenshot ends at AZDOQ40W",
        ],
        ..MARKED
    },
    Rule {
        kind: "azure-apim-key",
        what: "Azure API Management repository key",
        literals: &["git&"],
        finder: tailed("git&[0-9]{12}&[A-Za-z0-9+/]{86}", 103, Tail::Base64),
        found: &[
            "git¦&202563171158&nC824peoObapVNspHD25Oo4bmtbm10xUiRDS8NnQhiSYQOasXyTZR2bWRqAUOGgE\
             XeWZnVed46YgUiUQZ6R5UB==",
            "const azureApimKey = \"«git¦&202519510215&rrnn9reMON8gADMbU8WnlNKPGS8Qsov009IJIM76\
             5fr4SUJrpLsNuCfTts4cBSr0IF02iWgBpdrTB2qfD4iv35==»\";",
            "Does Azure API Management still take «git¦&202567899976&JQieVBfceF3m60bghcVRM9OGtT\
             W3pgY00HgdewoV6a08A8GGXMeABQnxLMqF2LWIORDsAaNBZuYx7YCEgqN2py==»?",
        ],
        kept: &[
            "AZURE_APIM_KEY=changeme",
            "`git&` is how Azure API Management marks its own.",
            "typed git&j5Oh, then gave up",
        ],
        ..MARKED
    },
    Rule {
        kind: "ms-refresh-token",
        what: "Microsoft Entra refresh token",
        literals: &["0.A", "1.A"],
        finder: tailed(
            r"[01]\.A[A-Za-z0-9_-]{50,200}\.A[A-Za-z0-9_-]{200}",
            405,
            Tail::Dotted,
        ),
        found: &[
            "1.¦AXs11gyrtJ0bIASKK3QTswX0GlsPGZt9tYxDbAjoRMtNatMYCgxLSZ.AgABAwEAAABUUkuKC4DhDW9M\
             0W9pbXRXpv7YcNWbR7jxUG22QSaYveK8N0IUffA9LTdxBegz1KXkHASCU0GXwKVOOOPSfppF3reiXXlMWB\
             MoENpgeRTFmy6qByGYtBesUHAadr9X1UPcB6WUkzH16hl2iLGbB0pPfFJYdgUz1qFMekMTbhWJMm4vmu2I\
             ocKx9bKUl6oPP0ynftYyAbWwC42y38dLOfp7G1enEfCwiLiXXu6yO",
            "* MS_REFRESH_TOKEN: `«1.¦AXQtEj3p5H1qzfq7dBEX4iluCRnVgdtMcGcSSYuWJ5YgPfWdSmKxTk.Ag\
             ABAwEAAABzXz2SxWJmRW3Zxx7NTl1ftzhDubAKDWFl5MghstDbrVOuayDHDll9qFtdjSUmuJxJ7YVlskVh\
             HbyfUqLWQmhiG8JM7x8KFkdtkLgNB9SvVRgbevFcPaH12Ia8q8r28lBhc5IJy28tD6OIno7l6a99KgdcJU\
             ThV6korxEeHaDt95tYIgSZZ1NOn083CkQpk6h8cCbv9c0ydZcBRXHeGwqddomtE4hYS12sAjwtz»`",
            "For Microsoft Entra log in with «1.¦AXUNAcumKTuYZsWNAKhMPvQRewID86tOJ362K8DcTRor9W\
             QkVXxIiQ.AgABAwEAAAB1qgSlKc4k2hE3ueZR8BTIdFA968ZOqjlex8oTeZk3xgOYLHxIfFZOLeKTmK7G8\
             Wz9DssfpRGlAJZaIofcLErHAVlrW4iRXZl4NoGY4ZiO2wJDQrqh3EyTdPIn3SKGg1ctft60BXGktrZru3E\
             AlpfFmBJeBvsoKqLOY2vcfoNRlqyCIWBzWGCeCGLoXshCq1944IUREVzmAxReZZrMu4fEcWQvl83huHtWg\
             t0RG», not with the old one.",
        ],
        kept: &[
            "MS_REFRESH_TOKEN={{ ms_refresh_token }}",
            "What does 0.A stand for?",
            "The console shows only 0.AAy3i… of it.",
        ],
        ..MARKED
    },
    Rule {
        kind: "microsoft-live-token",
        what: "Microsoft consumer account refresh token",
        literals: &["M.C", "M.R"],
        finder: tailed(
            r"M\.[CR][0-9]{1,4}_[A-Za-z0-9]{2,4}\.[A-Za-z0-9!*$._-]{100,900}",
            913,
            Tail::Dotted,
        ),
        found: &[
            "M.¦C547_BAY.0.U.-HAnzZxbw7KB9QXHAbJgHgRtnwDaDwJHSbqoLatHTuZcpBPJwYpaOVI6kIl2z!osDe\
             m12Hse9L4RlvqkrtPyhHsQWhMr6KJ6WEzr0W*blfWSk9MkN9dqGDxDyJJ",
            "refresh_value: «M.¦C587_BAY.0.U.-DtcwUbgN5EUZVYzxbJ0MGCWkKVGft7f4K5HETvHVhaC1xilGM\
             YNugdyWH20s!ETwjZIWjKB7ajuSZ45X38iXDX3l2PVfDojJMIxhk*DDyZZweSF4Snc07qWRCg»",
            "He mailed «M.¦C537_BAY.0.U.-kISo941GPCGjShJSQVwo33Z5toYEIm2cdS0sPTp1FtG84Fw1nciT5C\
             GxH3Op!V1ZFCIjfUJSNDTCtwYVtkgjEZ1o5M4dvi1rsxf1Z*CbF41P9R354xEjUcxMRi»; that opens \
             the mailbox.",
        ],
        kept: &[
            "M.C****************",
            "grep -rn 'M.C' src/ found nothing.",
            "M.CRgeT is too short for Microsoft.",
        ],
        ..MARKED
    },
];
