//! Webhooks, whose URL is the secret.

use super::{STRUCTURAL, scan};
use crate::redact::rule::{Rule, Severity};
use crate::redact::structure::webhook;

pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "slack-webhook",
        what: "webhook of Slack",
        severity: Severity::Medium,
        keywords: &["hooks.slack.com/", "hooks.slack-gov.com/"],
        finder: scan(webhook::slack),
        found: &[
            "https://hooks.sl¦ack.com/services/«T0AB12CD3/B0EF45GH6/a8f3Kd92ks01Lqp47vmZ2xYc».",
            "https://hooks.sl¦ack.com/workflows/«T0AB12CD3/A0EF45GH6/1234/a8f3Kd92ks01Lqp47vmZ2xYc»",
            "https://hooks.sl¦ack.com/triggers/«E0AB12CD3/1234567890/a8f3kd92ks01aqp47vb22c0c»",
        ],
        kept: &[
            "https://hooks.slack.com/services/T00000000/B00000000/xxxxxxxxxxxxxxxxxxxxxxxx",
            "https://hooks.slack.com/services/<team>/<bot>/<token>",
            "post to hooks.slack.com/services/...",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "discord-webhook",
        what: "webhook of Discord",
        severity: Severity::Medium,
        literals: &["/webhooks/"],
        finder: scan(webhook::discord),
        found: &[
            "https://discord.com/api/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c-7wT5»",
            "https://discordapp.com/api/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c»?wait=true",
            "(https://discord.com/api/v10/webhooks/123456789012345678/«a8f3Kd92ks01Lqp47vmZ2x_c»)",
        ],
        kept: &[
            "https://discord.com/api/webhooks/<id>/<token>",
            "https://discord.com/api/webhooks/123456789012345678/...",
            "https://discord.com/developers/docs/webhooks/resource",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "teams-webhook",
        what: "webhook of Microsoft Teams",
        severity: Severity::Medium,
        keywords: &[
            "webhook.office.com/",
            "outlook.office.com/webhook/",
            "outlook.office365.com/webhook/",
        ],
        finder: scan(webhook::teams),
        found: &[
            "https://acme.webhook.office.com/webhookb2/«11111111-2222@333/IncomingWebhook/a8f3kd92ks01aqp47vb22c0c/11111111-2222».",
            "https://outlook.office.com/webhook/«1-2@3/IncomingWebhook/a8f3kd92ks01aqp47vb22c0c/11111111-2222»",
            "[x](https://acme.webhook.office.com/webhookb2/«1@3/IncomingWebhook/a8f3kd92ks01aqp47vb22c0c/1-2/V2x»)",
        ],
        kept: &[
            "https://acme.webhook.office.com/webhookb2/",
            "https://acme.webhook.office.com/webhookb2/<id>/IncomingWebhook/<key>",
            "webhooks live at webhook.office.com",
        ],
        ..STRUCTURAL
    },
    Rule {
        kind: "webhook-url",
        what: "webhook of Zapier, IFTTT, Make, Google Chat, Telegram, Mattermost and others",
        severity: Severity::Medium,
        keywords: &[
            "hooks.zapier.com/hooks/",
            "maker.ifttt.com/",
            ".make.com/",
            "hook.integromat.com/",
            "chat.googleapis.com/v1/spaces/",
            "api.telegram.org/bot",
            "api.telegram.org/file/bot",
            "/open-apis/bot/v2/hook/",
            "/open-apis/bot/hook/",
            "oapi.dingtalk.com/robot/send",
            "qyapi.weixin.qq.com/cgi-bin/webhook/send",
            "/hooks/",
        ],
        finder: scan(webhook::other),
        found: &[
            "https://hooks.zapier.com/hooks/catch/«123456/ab12cd3»/",
            "https://maker.ifttt.com/trigger/x/with/key/«dA1b2C3d4E5f6»",
            "https://api.telegram.org/bot123456789:«AA¦HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw»/getMe",
        ],
        kept: &[
            "https://api.telegram.org/bot<token>/getMe",
            "https://maker.ifttt.com/trigger/x/with/key/YOUR_KEY",
            "src/hooks/useAuthenticationProvider.ts",
        ],
        ..STRUCTURAL
    },
];
