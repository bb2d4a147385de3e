//! Webhook URLs, which are secrets themselves: host and ids stay, the secret part goes.

use std::ops::Range;

use crate::span::{BLANK, Span};
use crate::structure::near::{ahead, behind, find, is_bare, report, run, run_back, trim};
use crate::structure::value::is_placeholder;

/// Longest URL of a webhook.
const URL_MAX: usize = 1024;

/// The place of the secret in the URL of a webhook.
enum Part {
    /// The segment of the path with this number, counted from 0 after the literal.
    Segment(usize),
    /// The segments of the path from this number on.
    From(usize),
    /// The last segment of the path that is not empty.
    Last,
    /// The text behind this mark in the URL, up to the next `/`, `&` or the end.
    After(&'static str),
}

/// Services by a piece of their URL, in lower case.
const SERVICES: &[(&str, &[Part])] = &[
    ("hooks.zapier.com/hooks/", &[Part::From(1)]),
    ("maker.ifttt.com/", &[Part::After("/key/")]),
    (".make.com/", &[Part::Segment(0)]),
    ("hook.integromat.com/", &[Part::Segment(0)]),
    (
        "chat.googleapis.com/v1/spaces/",
        &[Part::After("key="), Part::After("token=")],
    ),
    ("api.telegram.org/bot", &[Part::After(":")]),
    ("api.telegram.org/file/bot", &[Part::After(":")]),
    ("/open-apis/bot/v2/hook/", &[Part::Segment(0)]),
    ("/open-apis/bot/hook/", &[Part::Segment(0)]),
    (
        "oapi.dingtalk.com/robot/send",
        &[Part::After("access_token=")],
    ),
    (
        "qyapi.weixin.qq.com/cgi-bin/webhook/send",
        &[Part::After("key=")],
    ),
    ("conda.anaconda.org/t/", &[Part::Segment(0)]),
    ("infura.io/v3/", &[Part::Segment(0)]),
    ("/hooks/", &[Part::Last]),
];

/// Returns the URL from `at` on, without the punctuation of a sentence.
fn url(text: &[u8], at: usize) -> Range<usize> {
    let reach = ahead(text, at, URL_MAX);
    let end = at
        + run(reach, 0, |b| {
            is_bare(b) && !matches!(b, b'|' | b'\\' | b')' | b']')
        });
    at..trim(text, at, end)
}

/// Returns the segments of the path in `range`, at most 16.
fn segments(text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    let end = range.start + run(&text[range.clone()], 0, |b| !matches!(b, b'?' | b'#'));
    let mut found = Vec::new();
    let mut at = range.start;
    while at < end && found.len() < 16 {
        let next = run(&text[..end], at, |b| b != b'/');
        if next > at {
            found.push(at..next);
        }
        at = next + 1;
    }
    found
}

/// Tells whether a part looks like an id that a service generates: long enough and no word.
fn is_made_up(part: &[u8], least: usize) -> bool {
    let mixed = part.iter().any(u8::is_ascii_digit)
        || part.iter().any(u8::is_ascii_uppercase) && part.iter().any(u8::is_ascii_lowercase);
    part.len() >= least
        && (mixed || part.len() >= 20 && !part.contains(&b'-'))
        && !is_placeholder(part)
}

/// Finds the path of a Slack webhook or trigger: team, channel and token together open it.
pub(crate) fn slack(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let url = url(text, at);
    let parts = segments(text, url);
    let known = parts.get(1).is_some_and(|p| {
        matches!(
            &text[p.clone()],
            b"services" | b"workflows" | b"triggers" | b"workflow"
        )
    });
    if let (true, [_, _, first, .., last]) = (known, parts.as_slice())
        && is_made_up(&text[last.clone()], 12)
    {
        report(text, first.start..last.end, "slack-webhook", found);
    }
}

/// Finds the token of a Discord webhook.
pub(crate) fn discord(text: &[u8], at: usize, found: &mut Vec<Span>) {
    if find(behind(text, at, 40), "discord").is_none() {
        return;
    }
    let url = url(text, at + "/webhooks/".len());
    if let [id, token, ..] = segments(text, url).as_slice()
        && text[id.clone()].iter().all(u8::is_ascii_digit)
        && is_made_up(&text[token.clone()], 12)
    {
        report(text, token.clone(), "discord-webhook", found);
    }
}

/// Finds the path of a Microsoft Teams webhook: group, tenant, key and owner.
pub(crate) fn teams(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let url = url(text, at);
    let path = &text[url.clone()];
    let Some(start) = find(path, "/incomingwebhook/") else {
        return;
    };
    let key = url.start + start + "/incomingwebhook/".len()..url.end;
    let Some(begin) = ["/webhookb2/", "/webhook/"]
        .iter()
        .find_map(|root| Some(find(path, root)? + root.len()))
    else {
        return;
    };
    if is_made_up(&text[key], 12) {
        report(text, url.start + begin..url.end, "teams-webhook", found);
    }
}

/// Finds the secret part of the other services.
pub(crate) fn other(text: &[u8], at: usize, found: &mut Vec<Span>) {
    let Some((name, parts)) = SERVICES
        .iter()
        .find(|(name, _)| find(ahead(text, at, name.len()), name) == Some(0))
    else {
        return;
    };
    let before = behind(text, at, 120);
    let own = match *name {
        // Only paths of chats count: a URL stands before, and its host has no rule of its own.
        "/hooks/" => {
            let url = &before[run_back(before, before.len(), before.len(), is_bare)..];
            find(url, "://").is_some() && find(url, "zapier").is_none()
        }
        ".make.com/" => find(before, "hook").is_some(),
        _ => true,
    };
    if !own {
        return;
    }
    let url = url(text, at + name.len());
    for part in *parts {
        let secret = match part {
            Part::Segment(number) => segments(text, url.clone()).get(*number).cloned(),
            // A path that a placeholder or a marker cuts off has no last part.
            Part::Last | Part::From(_)
                if matches!(text.get(url.end), Some(b'<' | b'>' | &BLANK)) =>
            {
                None
            }
            Part::From(number) => segments(text, url.clone())
                .get(*number..)
                .and_then(|parts| Some(parts.first()?.start..parts.last()?.end)),
            Part::Last => segments(text, url.clone()).pop(),
            Part::After(mark) => after(text, at, &url, mark),
        };
        let least = if *name == "/hooks/" { 24 } else { 6 };
        let made_up = |s: &Range<usize>| {
            let part = &text[s.clone()];
            is_made_up(part, least) && (*name != "/hooks/" || part.iter().any(u8::is_ascii_digit))
        };
        if let Some(secret) = secret.filter(made_up) {
            report(text, secret, "webhook-url", found);
        }
    }
}

/// Returns the text behind `mark` in the URL.
fn after(text: &[u8], at: usize, url: &Range<usize>, mark: &str) -> Option<Range<usize>> {
    let start = at + find(&text[at..url.end], mark)? + mark.len();
    let end = run(&text[..url.end], start, |b| {
        !matches!(b, b'/' | b'&' | b'#' | b'?')
    });
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::SERVICES;
    use crate::structure::harness::{finds, keeps, rule};

    #[test]
    fn the_rule_asks_for_every_service() {
        let keywords = rule("webhook-url").keywords;
        let mut services: Vec<_> = SERVICES.iter().map(|(name, _)| *name).collect();
        let mut keywords = keywords.to_vec();
        services.sort_unstable();
        keywords.sort_unstable();
        assert_eq!(services, keywords);
    }

    #[test]
    fn chats() {
        finds(
            "slack-webhook",
            &[
                "https://hooks.sl¦ack.com/services/«T0AB12CD3/B0EF45GH6/a8f3Kd92ks01Lqp47vmZ2xYc».",
                "https://hooks.sl¦ack.com/workflows/«T0AB12CD3/A0EF45GH6/123456789012345678/a8f3Kd92ks01Lqp47vmZ2xYc»",
                "[hook](https://hooks.sl¦ack.com/triggers/«E0AB12CD3/1234567890/a8f3kd92ks01aqp47vb22c0c»)",
            ],
        );
        keeps(
            "slack-webhook",
            &[
                "https://hooks.slack.com/services/T00000000/B00000000/xxxxxxxxxxxxxxxxxxxxxxxx",
                "https://hooks.slack.com/services/...",
                "https://hooks.slack.com/services/T0/B0/\x01\x01",
                "post to hooks.slack.com",
            ],
        );
        finds(
            "discord-webhook",
            &[
                "https://discord.com/api/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c-7wT5aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z»",
                "https://discordapp.com/api/v10/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c»?wait=true",
                "<https://canary.discord.com/api/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c»>",
            ],
        );
        keeps(
            "discord-webhook",
            &[
                "https://discord.com/api/webhooks/<id>/<token>",
                "https://discord.com/developers/docs/webhooks/resource",
                "https://discord.com/api/webhooks/123456789012345678/\x01\x01",
                "https://example.com/webhooks/123456789012345678/a8f3Kd92ks01Lqp47vmZ2x_c",
            ],
        );
        finds(
            "teams-webhook",
            &[
                "https://acme.webhook.office.com/webhookb2/«11111111-2222-4333-8444-555555555555@11111111-2222-4333-8444-555555555555/IncomingWebhook/a8f3kd92ks01aqp47vb22c0c/11111111-2222-4333-8444-555555555555».",
            ],
        );
        keeps(
            "teams-webhook",
            &[
                "https://acme.webhook.office.com/webhookb2/",
                "https://x.webhook.office.com/webhookb2/x/IncomingWebhook/<key>",
            ],
        );
    }

    #[test]
    fn others() {
        finds(
            "webhook-url",
            &[
                "https://hooks.zapier.com/hooks/catch/«123456/ab12cd3»/",
                "https://maker.ifttt.com/trigger/x/with/key/«dA1b2C3d4E5f6»",
                "https://hook.eu1.make.com/«a8f3kd92ks01aqp47vb22c0c»",
                "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=«AI¦zaSyDdI0hCZtE6vySjM»&token=«a8f3kd92ks01»",
                "https://api.telegram.org/bot123456789:«AA¦HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw»/getMe",
                "https://chat.example.com/hooks/«a8f3kd92ks01aqp47vb22c0c11»",
                "https://open.feishu.cn/open-apis/bot/v2/hook/«11111111-2222-4333-8444-555555555555»",
                "https://rocket.example.com/hooks/a8f3kd92/«a8f3kd92ks01aqp47vb22c0c11»",
            ],
        );
        keeps(
            "webhook-url",
            &[
                "https://api.telegram.org/bot<token>/getMe",
                "https://api.telegram.org/bot123456789:\x01\x01/getMe",
                "https://hooks.zapier.com/hooks/catch/<id>/<key>/",
                "https://maker.ifttt.com/trigger/x/with/key/YOUR_KEY",
                "M src/hooks/useLocalStorage.test.tsx100755",
                "see .git/hooks/pre-commit and src/hooks/useAuthenticationProvider",
                "https://www.make.com/en/pricing",
                "https://docs.example.com/hooks/overview",
            ],
        );
    }
}
