# Makes agekeep print every kind of JSON object, on standard output or standard error. tests/siem/schemas.rs
# runs it in an empty home. Refusals print objects too, so nothing here has to succeed.
exec 2>&1
secret="ghp_$(printf '%s%s' 16C7e42F292c6912E7 710c838347Ae178B4a)"
a() { agekeep --json "$@" || :; }

a init
a create /memories/a.md --text 'one
two' --actor agent-7 --session s-1 --reason 'to remember'
a create /memories/a.md --text 'again'
a view /memories/nothing.md
a view ../outside
a view /memories
a read /memories/a.md
a write /memories/b.md --text 'b'
a str-replace /memories/a.md --old one --new ONE
a insert /memories/a.md 1 --text 'between'
a rename /memories/b.md /memories/c.md
a create /memories/token.md --text "token $secret"
a delete /memories/c.md
a log
a log -p -n 3
a access /memories/a.md
a show HEAD
a show HEAD:/memories/a.md
a view /memories/a.md --at HEAD
a diff
a blame /memories/a.md
a grep two
a grep ONE --history
a restore /memories/c.md --reason 'needed'
a revert --dry-run HEAD
a write /memories/a.md --text 'other'
a diff HEAD~1 HEAD
a revert HEAD --reason 'back'
a show HEAD
env -u USER -u LOGNAME -u AGEKEEP_ACTOR agekeep --json write /memories/a.md --text 'by nobody'
env -u USER -u LOGNAME -u AGEKEEP_ACTOR agekeep --json show HEAD
env -u USER -u LOGNAME -u AGEKEEP_ACTOR agekeep --json log -p -n 2
a rollback --to HEAD~2 --dry-run
a status
a doctor
a config
a verify
a checkpoint > note.json; cat note.json
agekeep checkpoint > note
a report
agekeep report --out report.html --sign
a report verify report.html
a verify --checkpoint note
a compact
a policy get
a policy set expiration.unaccessed_for 90d --reason 'a rule'
a policy explain
a policy explain /memories/a.md
a policy expire-at /memories/a.md 2099-01-01 --reason 'a date'
a expire --dry-run
a expire
a hold add /memories/a.md --reason 'a case'
a hold list
a status
a expire --dry-run
a hold rm "$(agekeep hold list --json | sed 's/.*"hold":\([0-9]*\).*/\1/')" --reason 'closed'
a recipients list
a recipients add olga --new --role auditor
a audit-kit --for olga --out kit
a recipients rm olga
a signers list
ssh-keygen -q -t ed25519 -N '' -C ken -f ken
a signers add ken ken.pub --role auditor
a signers role ken writer
a signers rm ken
a keys export /memories/a.md --reason 'a copy'
a rekey
a redact rules
printf '%s' "$secret" | a redact test
printf '%s' "$secret" | a redact fingerprint
printf '[[rules]]\nid = "mine"\nregex = "mine-[0-9]{8}"\n' > gitleaks.toml
a redact check gitleaks.toml
a policy set redaction.mode off --reason 'for the example'
a create /memories/leak.md --text "token $secret"
a policy set redaction.mode redact --reason 'as before'
a scan
a redact HEAD:/memories/leak.md --dry-run
a redact HEAD:/memories/leak.md --yes --reason 'it leaked'
a create /memories/gone.md --text 'gone'
a erase /memories/gone.md --dry-run --reason 'asked'
a erase /memories/gone.md --yes --reason 'asked'
a receipt show
a receipt show HEAD
a receipt verify
a export out
a export --jsonl -
a export --jsonl - --history
mkdir in; echo 'from a file' > in/note.md
a import in --to /memories/in --dry-run
a import in --to /memories/in
a prompt
a schedule cron
a schedule systemd
a mcp-config --client claude-code
a mcp-config --client claude-code --diagnose
printf '%s\n' '{"command":"view","path":"/memories/a.md"}' \
  '{"id":7,"input":{"command":"create","path":"/memories/tool.md","file_text":"token '"$secret"'"},"context":{"actor":"agent-7"}}' \
  '{"type":"tool_use","id":"toolu_1","name":"memory","input":{"command":"view","path":"/memories/tool.md"}}' \
  '{"command":"view","path":"../x"}' 'no JSON' | agekeep tool
timeout -s INT 5 agekeep --json ui || :
git init -q --bare host.git
a remote add off-site host.git
a push
a push
a remote list
a verify --remote off-site
a clone host.git copy
a create /memories/pushed.md --text 'pushed'
a pull
a push
a --store copy pull
a keys backup keys.age
a keys move "$PWD/moved"
age -d -i "$XDG_CONFIG_HOME/agekeep/identity.txt" keys.age | head -n 1
a clone host.git restored --keys keys.age
a --store host-copy --identity ci.txt --signing-key ci-key clone host.git host-copy --name ci > asked
cat asked
a sync
a replicas add ci --code "$(grep -o '"code":"[a-z-]*' asked | cut -d '"' -f 4)"
a --store host-copy --identity ci.txt --signing-key ci-key sync
a sync
a replicas list
a --store host-copy --identity ci.txt --signing-key ci-key replicas leave --destroy
a replicas rm ci
a remote rm off-site
a push
cp -a "$AGEKEEP_STORE" before
a create /memories/later.md --text 'later'
rm -r "$AGEKEEP_STORE"; mv before "$AGEKEEP_STORE"
a status
a accept-rollback --reason 'a drill'
a log -n 2
