//! A `CronJob` for Kubernetes.
//!
//! The keys come from a Secret, and cannot be used where that is mounted: its files belong to root,
//! and the pod's `fsGroup`, which lets another user read them, makes them readable by that group,
//! whatever `defaultMode` says. agekeep refuses a key file that others can read. So a first
//! container copies them, as the user of the sweep and for nobody else, to a folder in memory.

use std::path::PathBuf;

use agekeep::crypto::keyfile;
use agekeep::error::{Error, Result};
use clap::Args;

use crate::terminal;
use crate::verbs::schedule::{HOPELESS, ScheduleFile, Sweep};

#[derive(Args)]
pub(super) struct K8s {
    /// The container image with agekeep [default: a placeholder]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// The `PersistentVolumeClaim` of the volume with the store in its folder `store`
    #[arg(long, value_name = "NAME", default_value = "agekeep")]
    claim: String,
}

#[derive(Args)]
pub(crate) struct CopyKeys {
    /// The mounted files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder for the copies, which have mode 0400
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Copies the keys: an image of agekeep alone has no other program for it.
pub(crate) fn copy_keys(args: &CopyKeys) -> Result<u8> {
    for file in &args.files {
        let name = file
            .file_name()
            .ok_or_else(|| Error::invalid("the path of a key", "it has no file name"))?;
        keyfile::copy_private(file, &args.to.join(name))?;
    }
    Ok(0)
}

const PLACEHOLDER: &str = concat!("registry.example/agekeep:", env!("CARGO_PKG_VERSION"));

const SECRET: &str = "agekeep-sweeper";

/// The mount of the secret; its copies are in [`KEYS_FOLDER`].
const SECRET_FOLDER: &str = "/secret";
const KEYS_FOLDER: &str = "/keys";

impl K8s {
    /// Says what keeps it from working as it is.
    pub(super) fn obstacle(&self) -> Option<String> {
        self.image.is_none().then(|| {
            format!(
                "the image {PLACEHOLDER} does not exist; name one with agekeep in it with \
                     --image"
            )
        })
    }
}

pub(super) fn file(sweep: &Sweep, args: &K8s) -> Result<ScheduleFile> {
    let image = args.image.as_deref().unwrap_or(PLACEHOLDER);
    let image = checked("--image", image)?;
    let claim = checked("--claim", &args.claim)?;
    let text = format!(
        "{}{}{}{}",
        comment(sweep, args)?,
        head(),
        containers(sweep, &image),
        volumes(sweep, &claim)
    );
    Ok(ScheduleFile {
        name: "agekeep-expire.yaml".into(),
        text,
    })
}

/// Checks a name that a person gave, and quotes it for YAML.
fn checked(what: &'static str, name: &str) -> Result<String> {
    if name.is_empty() || name.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(Error::invalid(what, "it is empty or contains a space"));
    }
    Ok(quoted(name))
}

/// Returns the sweep as the pod sees it.
fn in_pod(sweep: &Sweep) -> Sweep {
    let key = |name: &str| format!("{KEYS_FOLDER}/{name}");
    Sweep {
        program: "agekeep".into(),
        store: "/data/store".into(),
        identity: key("identity"),
        signing_key: key("signing_key"),
        keyring: sweep.keyring.as_ref().map(|_| "/keyring/keyring".into()),
        state_base: Some("/data/state".into()),
        passphrase_file: sweep.passphrase_file.as_ref().map(|_| key("passphrase")),
        recorded: sweep.recorded.clone(),
        hosts: Vec::new(),
    }
}

/// Lists the keys of the secret, and the files of this machine that they are made from.
fn secrets(sweep: &Sweep) -> Vec<(&'static str, &String)> {
    let mut all = vec![
        ("identity", &sweep.identity),
        ("signing_key", &sweep.signing_key),
    ];
    all.extend(
        sweep
            .passphrase_file
            .iter()
            .map(|path| ("passphrase", path)),
    );
    all
}

fn comment(sweep: &Sweep, args: &K8s) -> Result<String> {
    let mut make: Vec<String> = ["kubectl", "create", "secret", "generic", SECRET]
        .map(Into::into)
        .into();
    for (key, path) in secrets(sweep) {
        make.push(from_file(key, path)?);
    }
    let keyring = sweep.keyring.as_ref().map_or("", |_| {
        "# The keyring is in the folder `keyring` of a volume of its own, of the claim agekeep-keyring.\n"
    });
    let image = args.image.as_ref().map_or(
        "# The image is a placeholder: push the one that packaging/image makes, and name it with --image.\n",
        |_| "",
    );
    Ok(format!(
        "\
# To create the Secret with the keys from the files of this machine:
#   {make}
# Then, in the same namespace (-n):
#   kubectl apply -f agekeep-expire.yaml
# To sweep now, and see the output:
#   kubectl create job --from=cronjob/agekeep-expire agekeep-expire-now
#   kubectl logs job/agekeep-expire-now
# For an alarm when sweeps stop, watch kube_cronjob_status_last_successful_time, or run this where
# the store is mounted; it fails if the last sweep is too old:
#   {status}
#
# runAsUser has to be the user that the agents run as, who owns the store: 65532 is the
# user of agekeep's image. The store is the folder `store` of the volume, not its top, whose mode
# is the cluster's to change. What was seen of the store is kept in `state` beside it; on a volume of
# its own, an older copy of the whole volume would be noticed too.
{keyring}{image}",
        make = terminal::command(&[], &make),
        status = in_pod(sweep).status(),
    ))
}

/// Makes an option of `kubectl`, which splits its value at commas, and takes a `=` for the end of
/// the key.
fn from_file(key: &str, path: &str) -> Result<String> {
    if path.contains('=') {
        return Err(Error::invalid(
            "the path of a key",
            format!(
                "kubectl cannot make a secret of a file with `=` in its path ({path}); name a copy \
                 or a link"
            ),
        ));
    }
    let entry = format!("{key}={path}");
    Ok(if entry.contains([',', '"']) {
        format!("--from-file=\"{}\"", entry.replace('"', "\"\""))
    } else {
        format!("--from-file={entry}")
    })
}

fn head() -> String {
    let hopeless = HOPELESS.map(|code| code.to_string()).join(", ");
    format!(
        "\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: agekeep-expire
  labels:
    app.kubernetes.io/name: agekeep-expire
spec:
  schedule: \"17 3 * * *\"
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 14400
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 3
      activeDeadlineSeconds: 3600
      podFailurePolicy:
        rules:
          # After these codes a person has to look; after the others, such as 11 for a store that is
          # in use, later may be better.
          - action: FailJob
            onExitCodes:
              containerName: expire
              operator: In
              values: [{hopeless}]
      template:
        metadata:
          labels:
            app.kubernetes.io/name: agekeep-expire
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          enableServiceLinks: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
            runAsGroup: 65532
            fsGroup: 65532
            # Or the files of the store would be opened to the group at every mount.
            fsGroupChangePolicy: OnRootMismatch
            seccompProfile:
              type: RuntimeDefault
"
    )
}

/// The limits of every container.
const CONFINED: &str = "              imagePullPolicy: IfNotPresent
              securityContext:
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities:
                  drop: [ALL]
";

fn containers(sweep: &Sweep, image: &str) -> String {
    let pod = in_pod(sweep);
    let secrets = secrets(sweep);
    let copied = secrets
        .iter()
        .map(|(key, _)| format!("{SECRET_FOLDER}/{key}"));
    let copied = copied.map(|path| quoted(&path));
    let expire = pod.expire();
    let args = expire[1..]
        .iter()
        .map(|word| format!("                - {}\n", quoted(word)));
    let variables = pod.variables();
    let variables = variables.iter().map(|(name, value)| {
        let value = quoted(value);
        format!("                - name: {name}\n                  value: {value}\n")
    });
    let keyring = pod.keyring.as_ref().map_or(
        "",
        |_| "                - name: keyring\n                  mountPath: /keyring\n",
    );
    format!(
        "          initContainers:
            # The secret's files belong to root, and fsGroup makes them readable by a group: agekeep
            # refuses such keys. These copies are the sweep's own, with mode 0400.
            - name: keys
              image: {image}
              command: [agekeep, copy-keys, --to={KEYS_FOLDER}, {copied}]
{CONFINED}              resources:
                requests: {{cpu: 10m, memory: 16Mi}}
                limits: {{memory: 64Mi}}
              volumeMounts:
                - name: secret
                  mountPath: {SECRET_FOLDER}
                  readOnly: true
                - name: keys
                  mountPath: {KEYS_FOLDER}
          containers:
            - name: expire
              image: {image}
              command: [agekeep]
              args:
{args}              env:
{variables}\
{CONFINED}              resources:
                requests: {{cpu: 50m, memory: 64Mi}}
                # An identity behind a passphrase takes 256 MiB to open.
                limits: {{memory: 512Mi}}
              volumeMounts:
                - name: keys
                  mountPath: {KEYS_FOLDER}
                  readOnly: true
                - name: data
                  mountPath: /data
{keyring}",
        copied = copied.collect::<Vec<_>>().join(", "),
        args = args.collect::<String>(),
        variables = variables.collect::<String>(),
    )
}

fn volumes(sweep: &Sweep, claim: &str) -> String {
    let keyring = sweep.keyring.as_ref().map_or("", |_| {
        "            - name: keyring\n              persistentVolumeClaim:\n                claimName: agekeep-keyring\n"
    });
    format!(
        "          volumes:
            - name: secret
              secret:
                secretName: {SECRET}
                # 0400, in the way that YAML 1.1, YAML 1.2 and JSON agree on.
                defaultMode: 256
            - name: keys
              emptyDir:
                medium: Memory
                sizeLimit: 1Mi
            - name: data
              persistentVolumeClaim:
                claimName: {claim}
{keyring}"
    )
}

/// Writes a text in double quotes, which YAML reads as JSON does.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
