//! Bare values of exchanges, chains and markets.

use super::{KEYED, bare};
use crate::redact::rule::{Check, Rule, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "coinbase-secret",
        what: "Coinbase API secret",
        severity: Severity::Critical,
        keywords: &["coinbase"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "coinbase_secret=\"«u9¦bpkjnLf282eaMM9jA0iF8tT0qVyYBa»\"",
            "Log in to Coinbase with the API secret «YgH¦s5B5nSKXKNEe7w3NV3Qt3GzavmFg4».",
            "Coinbase accepts the API secret `«Rn¦hdh7YIzDAYdhNDgwT3vqra7fjAyoBC»`, the other \
             one not.",
        ],
        kept: &[
            "The recording c7WmuDaQTnEZvHYyboXN2AJw0uqwOD9q.wav is in the archive.",
            "The Coinbase adapter was built from commit \
             3b412883eedc75e5b66688d06ae8ffe9d43ebe93.",
            "Where do I find the Coinbase API secret?",
        ],
        ..KEYED
    },
    Rule {
        kind: "binance-key",
        what: "Binance API or secret key",
        severity: Severity::Critical,
        keywords: &["binance"],
        finder: bare("[A-Za-z0-9]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "os.environ[\"BINANCE_KEY\"] = \"«maMH¦YWq0DEhtIrJOsvcTV3AcxuAAJ7RxEgNdVWY7RSgA9HOG\
             SKXADXKFaqvZ4BgI»\"",
            "Notre secret Binance : «CH¦4E6pGvtdLu4KPx7Tdr8JemgBIJaiRrtbAUMXWkDsIgaSPnZ4VmKPqb6\
             vFrny5W»",
            "Old Binance secret: «LLWK¦iELA1PvGtzB3dg4BSe3NyVqBuYq5NLlhFx5nTB7UwlPbcjsnLX3Kaxxj\
             0rI0». Delete it!",
        ],
        kept: &[
            "Look at node EHTYD5IsRr967hYluXPHlY4WYMroCpwPt3hoQQXXNmYhuLVVgMK8D8b2uQLvBfQe in \
             the graph.",
            "Binance returned 503 for job 3019, then 200.",
            "binance_key = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "kraken-secret",
        what: "Kraken private key",
        severity: Severity::Critical,
        keywords: &["kraken"],
        finder: bare("[A-Za-z0-9+/]{86}==", 88),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "\"kraken_secret\": \"«NZ¦wIjpn0jP8+FQNHANtFnobL9nYBSJhdewSWMiqQeX4pOxJW9nKbQzABYS4\
             30QVgAUAaatt00G2TjOA28GEtDm==»\",",
            "remember the Kraken key «xP¦QnhQIsQaJSaJ0Rjn2dRuaBeCmsbz2HBs3ItgplFkpFO+SCJ4vt1IZz\
             Y0rMwFbGNru14wM8PAO3xpWzbbwqAR==»",
            "Jo sent the Kraken key by mail: «9lEk¦ocyoHr5fjIcVbGbGeD3CjgSZojeOpWXMPWm6XX7AsnGq\
             bPGglQh+iF3Mj9UwtC0rYIEaVrTEXv0PdsvU5Z==»",
        ],
        kept: &[
            "Parcel ouuv4TUtpttS8jKqOhFbOvmJ7eusNA/0APabNb3zjmuAoBcuQA6tnHCe7un+QSHEey/3je2BGyX\
             yxByL+eMQ4u== arrived.",
            "I like Kraken, but the limits are tight.",
            "the Kraken key lives in kraken_secret.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "kraken-key",
        what: "Kraken API key",
        severity: Severity::Critical,
        keywords: &["kraken"],
        finder: bare("[A-Za-z0-9+/]{56}", 56),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "export KRAKEN_KEY=«nTZQ¦gCVN/rj/BMtDJ3l3nrvY/AyuCRTomGiE2ZZTk35j7DlTQYq4xpgn»",
            "Kraken: key \"«A5¦tVqtgT84UUO/AYSdEwFz9Me9vJg2cDG68x2h4MeRu6YhntxAcR8jmW»\"",
            "Kraken 的 key 是 «/gb¦Jh2/DdJ6GGE0dH3K8E8LO+Ue6gadoPGZ36WDaoUKpsB2817/XPWMi»。",
        ],
        kept: &[
            "Build r3k6LEEOpD/TWzhWrOfsuyrVqAs0vuqOrnnQPhqTJqI+3HM+MNa0SfbB passed.",
            "Kraken was down from 10:00 to 10:20 on 2024-03-10.",
            "KRAKEN_KEY=%KRAKEN_KEY%",
        ],
        ..KEYED
    },
    Rule {
        kind: "kucoin-secret",
        what: "KuCoin API secret",
        severity: Severity::Critical,
        keywords: &["kucoin"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "    kucoin_secret: «8d8¦a3bdf-4560-7a7c-a063-a0e05c10095c»",
            "the API secret (KuCoin) → «40¦676438-b106-d7c0-131d-c312d2c60861»",
            "For KuCoin we use the API secret «bc¦5caf2b-aaaf-2167-3963-e6abc13ca138», valid \
             until May.",
        ],
        kept: &[
            "Request e702a7b3-51af-6417-081c-3a5f383da41b took 40 ms.",
            "The KuCoin plugin at e6e9ab765cf4d26f18dee5f03d7a68267d3e7827 fails on Windows.",
            "KUCOIN_SECRET={{ kucoin_secret }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "bittrex-key",
        what: "Bittrex API key",
        keywords: &["bittrex"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "* bittrex_key: `«ca0¦d172ae73f84758d3cde74a28f5394»`",
            "The new key for Bittrex: «809¦1b6a80cb7e7bf18292dea965ddd30»",
            "| Bittrex key | «a6¦f20c1da62584277d9b23438f0682ca» | ops |",
        ],
        kept: &[
            "The blob 006df51b6857dd7203d0d6d159857295 is a test image.",
            "The Bittrex adapter was built from commit \
             1fb948c98f4fd513632e2dd22ad0044ff985ac6f.",
            "BITTREX_KEY=1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitfinex-key",
        what: "Bitfinex API key",
        severity: Severity::Critical,
        keywords: &["bitfinex"],
        finder: bare("[A-Za-z0-9_-]{43}", 43),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "bitfinexKey := \"«U-¦3ehjK9TnECVAlUXDZ6T5y1EtNkRrU22PKC71bcXK3»\"",
            "Log in to Bitfinex with the key «1AG_¦LyjLwi25wKLZnddBRxxAhQewLPzzjrIz4Mg7zP7».",
            "Jo sent the Bitfinex key by mail: «oiN2¦IKkItzCotVD6n7WU1lziwvEdFOEd8BlBOabMk7o»",
        ],
        kept: &[
            "Build W7ahwtIzFBqxqHbrjH-3oFmsGBbYw0K2tn6U5iqchDp passed.",
            "The Bitfinex invoice 9357 came to 49 EUR.",
            "process.env.BITFINEX_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitmex-secret",
        what: "BitMEX API secret",
        severity: Severity::Critical,
        keywords: &["bitmex"],
        finder: bare("[A-Za-z0-9_-]{48}", 48),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "ARG BITMEX_SECRET=«feX¦PRW2lr5YnnjdBczyAXT8ssJzkb3SSZ7eA3TNCP2JYAcRY»",
            "remember the BitMEX API secret «b6¦jJeTnuoyUiFmKYx93i_qsn_x0WDaqu7XeWOK-bhbg7h1mf»",
            "Old BitMEX API secret: «OI¦_Lcycc515OxVzDdmetR_wyxl6H1I3fDWSU_Db-cPfOyERU». \
             Delete it!",
        ],
        kept: &[
            "Part lKDAIg4MKwtFkDOGpVNc8c_SCvtBFVACoRlon_zeTNJmOcEg is out of stock.",
            "Our BitMEX contract ends on 2025-11-24.",
            "BitMEX rejects a API secret that is too short.",
        ],
        ..KEYED
    },
    Rule {
        kind: "bybit-secret",
        what: "Bybit API secret",
        severity: Severity::Critical,
        keywords: &["bybit"],
        finder: bare("[A-Za-z0-9]{36}", 36),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "BYBIT_SECRET = '«9oAu¦M41MADfTiUHM2u1ettAqjDY7Z7o5qQg7»'",
            "The API secret of the Bybit account was «ctf¦cNBWoQ7nATHfNTxlrC08mW8TxVSZOtoEH», \
             says Jo.",
            "Bybit API secret = «9R¦RmpLqwHj0JqzHbeUfMZLIwmdIuZyiKKAc8», in the vault since \
             June",
        ],
        kept: &[
            "The folder FiJojMJCM4d1BK5JzWR5IHocHavrSCKe6o1J can go.",
            "Two people at Bybit answered.",
            "os.environ[\"BYBIT_SECRET\"]",
        ],
        ..KEYED
    },
    Rule {
        kind: "etherscan-key",
        what: "Etherscan API key",
        severity: Severity::Low,
        keywords: &["etherscan", "bscscan", "polygonscan", "arbiscan"],
        finder: bare("[A-Z0-9]{34}", 34),
        checks: &[Check::Digit],
        found: &[
            "etherscanKey: «YOQ¦OTECT34AO40Y6967TPD0MRG3EKB2LIH»",
            "Etherscan wants a key, so I sent «SG2¦9EIXXJ0O8FW1GY20XUAWACNNDPYRZSB»; it worked.",
            "Etherscan 的 key 是 «NW2W¦ZQOHYH61TKQ5RUZ64R4XGNOWXKSBIO»。",
        ],
        kept: &[
            "Parcel QKFATXLRACOZ43KATW4L4A1HWSB9YAC99R arrived.",
            "The Etherscan page 1759 shows the numbers.",
            "etherscan_key = \"...\"",
        ],
        ..KEYED
    },
    Rule {
        kind: "infura-key",
        what: "Infura API key",
        keywords: &["infura"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "const infuraKey = \"«d7de¦e9f3989582b6ed31946c3f59ec6f»\";",
            "Notre key Infura : «86ec¦7f140efb89b0b381400e742c6064»",
            "My Infura key («d9c¦66128b5ef4b64ea51661dc4fbc9ae») was rotated.",
        ],
        kept: &[
            "Sum of the dump: 7fb6184107a92e727e527376aba82ff1",
            "Infura support wrote about case 4947.",
            "INFURA_KEY=${INFURA_KEY}",
        ],
        ..KEYED
    },
    Rule {
        kind: "alchemy-key",
        what: "Alchemy API key",
        keywords: &["alchemy"],
        finder: bare("[A-Za-z0-9_-]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "{\"alchemy_key\": \"«X7bj¦6-HDakolTH-H4NxPDCoO60wB_Nok»\", \"retries\": 3}",
            "Alchemy: key \"«kD9L¦tYFbUZF69WAbYwFJN3tyR6pp51T1»\"",
            "For Alchemy we use the key «jO¦k-jEoua2me23mB1UMRQDo5k0hqWRT1», valid until May.",
        ],
        kept: &[
            "Look at node fpDnNNRnFBEyMgh-yxdWhcdL8kECyT5F in the graph.",
            "Ask Mira who owns the Alchemy account.",
            "the Alchemy key lives in alchemy_key.txt",
        ],
        ..KEYED
    },
    Rule {
        kind: "ethereum-private-key",
        what: "Ethereum private key",
        severity: Severity::Critical,
        keywords: &[
            "ethereum private",
            "eth_private",
            "wallet private",
            "wallet_private",
            "deployer_private",
            "metamask",
        ],
        finder: bare("(?:0x)?[a-f0-9]{64}", 66),
        found: &[
            "  - ETH_PRIVATE_KEY=«0x¦49d40dfa2fd8718d525454df978b3a65d6603c58450d583a7f893509c4\
             348814»",
            "Use the Ethereum private key «1d2¦1ecc6df4f0e4646dacb40741ef87e6b579f4be08e636441d46a\
             72f04d2b05».",
            "The Ethereum private key «43¦f9778408a1c3ca6767f7fda0a5296540a14b4835c7ef40e5899d5\
             f31c17e32» is new.",
        ],
        kept: &[
            "The recording c55efcf79728169b766a3005c0c236e77efbe21dd9ecae812d7e6f851ea97ff9.wa\
             v is in the archive.",
            "The talk about Ethereum starts at 10:13.",
            "ETH_PRIVATE_KEY=changeme",
        ],
        ..KEYED
    },
    Rule {
        kind: "bitcoin-wif",
        what: "Bitcoin private key (WIF)",
        severity: Severity::Critical,
        keywords: &["bitcoin", "btc", "wif"],
        finder: bare("[5KL][1-9A-HJ-NP-Za-km-z]{50,51}", 52),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "BITCOIN_WIF=«5eot¦tx89mUiJXY9YWLf4znPrZdKEY9cfQxCLixs9r89oyGVtbAwM»",
            "**Bitcoin private key**: `«5eo¦xSC3y1Wcc2Av3oxCNxrrYPkXutVtVUAzP5oKyNYp2rxyDdm7»`",
            "Bitcoin accepts the private key `«Kw4F¦K26DEaVJeWD8W69synhHLNaN1Vw1xRCZ1U7VJXmCuWT\
             A9RaM»`, the other one not.",
        ],
        kept: &[
            "Row KNrqkpN9qhQRzQh8YbkYuL1tPJnQyxPtFvmeAmM2o5ugzFdx7iMo of the export was empty.",
            "Bitcoin was down from 10:00 to 10:20 on 2024-03-17.",
            "bitcoin_wif: 1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
        ..KEYED
    },
    Rule {
        kind: "stellar-seed",
        what: "Stellar secret seed",
        severity: Severity::Critical,
        keywords: &["stellar", "xlm"],
        finder: bare("S[A-D][A-Z2-7]{54}", 56),
        checks: &[Check::Digit],
        found: &[
            "stellarSeed: «SC7A¦B4QK6O7DLBY7XXPGKEY5VY7VDUK662SUWT2P2VBRECQMUNVQSSQM»",
            "Stellar secret seed: «SBFW¦TRUUJENK4H2BZNGKVFJJ66HOZEHJRKDONOVRA6JJTNC4QJ2OBVON»",
            "Copy the Stellar secret seed <«SC¦HZMJTHI6LSIZLTHABTOAZRSM2U4JW64LQKTHIVIO7XDDV6QN\
             NMBI62»> to the phone.",
        ],
        kept: &[
            "The recording SCP3JN6G4KOJ6PMWJZQF4752AATIT2W6YIEC4DRUQMWEJPRGBM43G3JA.wav is in \
             the archive.",
            "Stellar (plan B) has 5830 rows.",
            "Stellar secret seed: <from the vault>",
        ],
        ..KEYED
    },
    Rule {
        kind: "polygon-key",
        what: "Polygon.io API key",
        severity: Severity::Low,
        keywords: &["polygon"],
        finder: bare("[A-Za-z0-9]{32}", 32),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "| polygon_key | «h4Jz¦wlP3JeQiYdxFIw43oruhHDfZce20» |",
            "The Polygon.io key is «Mvh¦zsL0jkSX0Q5RmarSd6LcPboXa0zMA».",
            "- Polygon.io key «Pm8¦oPXuMns1Mw761fMSjNZ9BT2enysKp»",
        ],
        kept: &[
            "Row TlTXJDfT3mJD2qRRmnVHG9Z66Y6kBS6v of the export was empty.",
            "I like Polygon.io, but the limits are tight.",
            "POLYGON_KEY=<paste it here>",
        ],
        ..KEYED
    },
    Rule {
        kind: "finnhub-key",
        what: "Finnhub API key",
        severity: Severity::Low,
        keywords: &["finnhub"],
        finder: bare("[a-z0-9]{20}", 20),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "const finnhubKey = \"«c4¦t5ulv8raq9m2cv0o7k»\";",
            "For Finnhub we use the key «ie8g¦0nuu97b9pqkws7td», valid until May.",
            "remember the Finnhub key «cotg¦t7a52nq8evlk66qj»",
        ],
        kept: &[
            "The folder nxy24vr02wxx1zlw6h3y can go.",
            "Jo set up Finnhub in room 20.",
            "The Finnhub key goes into FINNHUB_KEY.",
        ],
        ..KEYED
    },
    Rule {
        kind: "alphavantage-key",
        what: "Alpha Vantage API key",
        severity: Severity::Low,
        keywords: &["alphavantage", "alpha_vantage", "alpha vantage"],
        finder: bare("[A-Z0-9]{16}", 16),
        checks: &[Check::Random, Check::Digit],
        found: &[
            "  - ALPHAVANTAGE_KEY=«43C¦P1C3HMWATSYUH»",
            "Alpha Vantage key = «KHX7¦ZS8EQ8E37MMZ», in the vault since June",
            "Alpha Vantage accepts the key `«GP1¦KG7RA4QTBKFXU»`, the other one not.",
        ],
        kept: &[
            "Part XQH864SOEFYHG4EH is out of stock.",
            "Release 2556 drops support for Alpha Vantage.",
            "ALPHAVANTAGE_KEY={{ alphavantage_key }}",
        ],
        ..KEYED
    },
    Rule {
        kind: "tiingo-token",
        what: "Tiingo API token",
        severity: Severity::Low,
        keywords: &["tiingo"],
        finder: bare("[a-f0-9]{40}", 40),
        found: &[
            "tiingo-token = «d8¦915ee28b1ff19975f45846b464cd1e29105129»",
            "The Tiingo token is «051¦5757762eb78330cfe9665f4d3c1ebed5b5e20».",
            "Copy the Tiingo token <«d4f¦7cfd169218e96563d506d44b372e7e182ccb9»> to the phone.",
        ],
        kept: &[
            "Reverted e5f1f94f6cdbf5de307e84d94ddb57e5b1a39966 on Friday.",
            "The Tiingo client was upgraded to 4.15.1.",
            "TIINGO_TOKEN=%TIINGO_TOKEN%",
        ],
        ..KEYED
    },
    Rule {
        kind: "twelvedata-key",
        what: "Twelve Data API key",
        severity: Severity::Low,
        keywords: &["twelvedata", "twelve data", "twelve_data"],
        finder: bare("[a-f0-9]{32}", 32),
        found: &[
            "TWELVEDATA_KEY=«1af¦53cfb8fa2fb84f2ce244f8ec1aecc» make release",
            "the key (Twelve Data) → «30¦504590125cadbc996072ebdee2eee4»",
            "Old Twelve Data key: «47¦04e38d87194093f19d22e7c1b1f994». Delete it!",
        ],
        kept: &[
            "ETag b9cf08a4b5af2e6b3adef1eb9b1f7a36 did not change.",
            "Twelve Data returned 503 for job 6144, then 200.",
            "process.env.TWELVEDATA_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "alpaca-secret",
        what: "Alpaca secret key",
        keywords: &["alpaca", "apca"],
        finder: bare("[A-Za-z0-9]{40}", 40),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "* alpaca_secret: `«JA¦fqBs2w5pz00kpuUwcJM1547isbFlIiMl8bF7IW»`",
            "The Alpaca secret key «jbH¦A15js96hXitOq8jYfYXbUgDRFMqbznQJZkM9P» is new.",
            "Alpaca: secret key \"«2qq¦V81AodVaQDoCMvF75mxIoovo8B5hfZ75sqaRL»\"",
        ],
        kept: &[
            "Parcel m3jzpW4tm6SSbuGHS0dGZbXngcAPIWyZbKR0yYgK arrived.",
            "We moved away from Alpaca, see ticket OPS-1823.",
            "Where do I find the Alpaca secret key?",
        ],
        ..KEYED
    },
    Rule {
        kind: "coinmarketcap-key",
        what: "CoinMarketCap API key",
        severity: Severity::Low,
        keywords: &["coinmarketcap", "cmc_"],
        finder: bare("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", 36),
        found: &[
            "coinmarketcap_key=\"«7f3¦207f7-bf72-ec14-84bb-83eafc4fd5b9»\"",
            "I think the key of our CoinMarketCap test account was «141e¦6277-5d78-b071-07a0-db66b\
             3549e0d».",
            "Notre key CoinMarketCap : «cdcc¦1e62-480e-5582-ad92-035a8ae73a47»",
        ],
        kept: &[
            "Device 58b589f4-828e-5360-6a3e-1927cc54a8c8 went offline.",
            "CoinMarketCap costs more since 2816 users joined.",
            "COINMARKETCAP_KEY=YOUR_COINMARKETCAP_KEY",
        ],
        ..KEYED
    },
    Rule {
        kind: "cryptocompare-key",
        what: "CryptoCompare API key",
        severity: Severity::Low,
        keywords: &["cryptocompare"],
        finder: bare("[a-f0-9]{64}", 64),
        found: &[
            "CRYPTOCOMPARE_KEY: \"«f9e1¦681080df368fd2de6bfedcab6bcbce98c26f6c22eb74b1e02dbe640\
             4154c»\"",
            "CryptoCompare 的 key 是 «5389¦e65bfac4f8c8baf17c85c2c4a87cc5ef18846a47f616fa4fb6cbe8\
             7251fb»。",
            "CryptoCompare wants a key, so I sent «8e5¦1787f3e7a5e32e0bbedc921c738ec50f0108038e\
             517b2922bc6a89bce8a12»; it worked.",
        ],
        kept: &[
            "Block d539c3229b017d60e8b9e24cbcf33529addc852bb1379639a4082ac668f27fff was \
             orphaned.",
            "Ask Mira who owns the CryptoCompare account.",
            "CRYPTOCOMPARE_KEY=1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
        ],
        ..KEYED
    },
    Rule {
        kind: "moralis-key",
        what: "Moralis API key",
        severity: Severity::Medium,
        keywords: &["moralis"],
        finder: bare("[A-Za-z0-9]{64}", 64),
        checks: &[Check::MixedCase, Check::Digit],
        found: &[
            "    moralis_key: «XDx¦zCCxjTZAUsYPyfBOM6jTSvCm7dl2EbWeJz3Cs5Xgl7X7zdzRipSG15dICFbe\
             B»",
            "The key of the Moralis account was «Em¦cvc8dHgDAdCe0U6xEgI86TIiRkARlXE6b4NHrCtlEU8\
             8dkpDurSEvBWbEoJuAn», says Jo.",
            "Log in to Moralis with the key «SG1¦ORIou5BiJp06Lr8E7krCIIQdxLIzyFeHh8ma8AfgTfd18b\
             htsRxfetZdcAEdP».",
        ],
        kept: &[
            "Build XKR3qxQhsTeLo0Lk6QW6bVAaG1OotBQYjl773YHCbZEKI5a1afMiuUZY4CpjrcGc passed.",
            "The Moralis invoice 8697 came to 49 EUR.",
            "moralis_key = \"...\"",
        ],
        ..KEYED
    },
];
