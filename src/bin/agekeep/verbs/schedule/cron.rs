//! A line for a crontab.

use crate::verbs::schedule::sweep::Sweep;
use crate::verbs::schedule::{File, shell};

/// Longest line that every cron takes, in bytes.
const LINE_BYTES_MAX: usize = 998;

/// A time when little else is going on, at no round minute.
const TIME: &str = "17 3 * * *";

pub(super) fn file(sweep: &Sweep) -> File {
    let command = shell::command(&sweep.variables(), &sweep.expire());
    let line = format!("{TIME} {} | logger -t agekeep-expire", escaped(&command));
    let (again, status) = (sweep.schedule(&["cron"]), sweep.status());
    let long = if line.len() > LINE_BYTES_MAX {
        "# The line is longer than some crons take: if yours does not, put the command into a script.\n"
    } else {
        ""
    };
    let text = format!(
        "\
# To put the line there, beside what there is:
#   (crontab -l 2>/dev/null; {again}) | crontab -
# What a sweep says goes to syslog. Warnings and errors stay on standard error, which cron mails to
# the account, or to MAILTO. PATH may be cron's own, and \\% is how a crontab says %.
# For an alarm when sweeps stop, have your monitoring run this; it fails if the last one is too old:
#   {status}
{long}{line}
"
    );
    File {
        name: format!("the crontab of {}", sweep.account()),
        text,
    }
}

/// A command as a crontab says it: there, a bare `%` ends it, and `\%` is a `%`. What a backslash
/// does before another one, crons do not agree on, so none of the command's own stands before that or
/// a `%`: an empty word between them changes nothing for the shell. Both are in quotes, always.
fn escaped(command: &str) -> String {
    let mut line = String::with_capacity(command.len());
    for c in command.chars() {
        if matches!(c, '%' | '\\') && line.ends_with('\\') {
            line.push_str("''");
        }
        if c == '%' {
            line.push('\\');
        }
        line.push(c);
    }
    line
}
