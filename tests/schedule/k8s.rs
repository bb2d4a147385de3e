//! The manifest, as Kubernetes reads it, and what its containers do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use base64ct::{Base64, Encoding};
use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

use crate::schedule::place::{NAMES, Place, put, shell, shown, signs};
use crate::support::{feed, has_peer, stderr, stdout};

/// The one document of the manifest.
fn read(text: &str) -> Yaml {
    let mut all = YamlLoader::load_from_str(text).expect("YAML");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn pod(manifest: &Yaml) -> &Yaml {
    &manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]
}

fn texts(list: &Yaml) -> Vec<String> {
    let list = list.as_vec().expect("a list").iter();
    list.map(|item| item.as_str().expect("a text").to_owned())
        .collect()
}

/// What a container runs.
fn words(container: &Yaml) -> Vec<String> {
    let mut words = texts(&container["command"]);
    if !container["args"].is_badvalue() {
        words.extend(texts(&container["args"]));
    }
    words
}

/// Where a container's volumes are.
fn mounts(container: &Yaml) -> BTreeMap<String, String> {
    let mounts = container["volumeMounts"].as_vec().expect("a list").iter();
    let text = |value: &Yaml| value.as_str().expect("a text").to_owned();
    mounts
        .map(|mount| (text(&mount["name"]), text(&mount["mountPath"])))
        .collect()
}

#[test]
fn it_is_the_job_that_is_wanted() {
    let place = Place::new("plain", "plain");
    let image = "registry.example.org:5000/agekeep@sha256:00ff";
    let manifest = read(&place.ok(&["schedule", "k8s", "--image", image, "--claim", "memory"]));
    assert_eq!(manifest["apiVersion"].as_str(), Some("batch/v1"));
    assert_eq!(manifest["kind"].as_str(), Some("CronJob"));
    let spec = &manifest["spec"];
    assert_eq!(spec["schedule"].as_str(), Some("17 3 * * *"));
    assert_eq!(spec["concurrencyPolicy"].as_str(), Some("Forbid"));
    for limit in [
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ] {
        assert!(spec[limit].as_i64().is_some(), "{limit}");
    }
    let job = &spec["jobTemplate"]["spec"];
    assert!(job["backoffLimit"].as_i64().is_some());
    let hopeless = &job["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"];
    let hopeless: Vec<_> = hopeless
        .as_vec()
        .expect("a list")
        .iter()
        .filter_map(Yaml::as_i64)
        .collect();
    assert_eq!(hopeless, [2, 7, 9, 10, 12, 13, 14]);

    let pod = pod(&manifest);
    assert_eq!(pod["restartPolicy"].as_str(), Some("Never"));
    assert_eq!(pod["automountServiceAccountToken"].as_bool(), Some(false));
    let security = &pod["securityContext"];
    assert_eq!(security["runAsNonRoot"].as_bool(), Some(true));
    assert_eq!(security["runAsUser"], security["fsGroup"]);
    assert_eq!(
        security["seccompProfile"]["type"].as_str(),
        Some("RuntimeDefault")
    );
    for container in [&pod["initContainers"][0], &pod["containers"][0]] {
        assert_eq!(container["image"].as_str(), Some(image));
        let security = &container["securityContext"];
        assert_eq!(security["allowPrivilegeEscalation"].as_bool(), Some(false));
        assert_eq!(security["readOnlyRootFilesystem"].as_bool(), Some(true));
        assert_eq!(texts(&security["capabilities"]["drop"]), ["ALL"]);
        assert!(
            container["resources"]["limits"]["memory"]
                .as_str()
                .is_some()
        );
    }
    let secret = &pod["volumes"][0]["secret"];
    assert_eq!(secret["defaultMode"].as_i64(), Some(0o400));
    let claim = &pod["volumes"][2]["persistentVolumeClaim"]["claimName"];
    assert_eq!(claim.as_str(), Some("memory"));
}

#[test]
fn the_words_of_a_person_are_quoted() {
    let place = Place::new("plain", "plain");
    let long = NAMES.map(|name| {
        [
            "--store=/1e3".into(),
            "--session=null".into(),
            format!("--reason={name}"),
        ]
    });
    for said in signs().chain(long) {
        let args = said.each_ref().map(String::as_str);
        let manifest = read(&place.ok(&[&["schedule", "k8s"], &args[..]].concat()));
        let words = words(&pod(&manifest)["containers"][0]);
        assert!(words.ends_with(&said[1..]), "{words:?}");
    }
}

/// Runs what a container runs, where its volumes are folders of this machine.
fn run(place: &Place, container: &Yaml, variables: bool) -> Output {
    let mounts = mounts(container);
    let here = |word: &str| {
        let (option, path) = word.split_at(word.find("=/").map_or(0, |at| at + 1));
        let mount = mounts.iter().find(|(_, mounted)| {
            let rest = path.strip_prefix(mounted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        mount.map_or_else(
            || word.to_owned(),
            |(name, mounted)| {
                let folder = place.root().join(name);
                let here = path.replacen(mounted.as_str(), folder.to_str().expect("UTF-8"), 1);
                format!("{option}{here}")
            },
        )
    };
    let words = words(container);
    assert_eq!(words[0], "agekeep", "the image has nothing else");
    let mut command = Command::new(env!("CARGO_BIN_EXE_agekeep"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/");
    command.args(words[1..].iter().map(|word| here(word)));
    if variables {
        for variable in container["env"].as_vec().expect("a list") {
            let text = |key: &str| variable[key].as_str().expect("a text");
            command.env(text("name"), here(text("value")));
        }
    }
    command.output().expect("runs")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

#[test]
fn its_containers_do_what_they_are_for() {
    let place = Place::new("plain", "plain");
    let passphrase = put(&place.home, "passphrase", "of no key here\n");
    chmod(&passphrase, 0o600);
    let mut printed = place.command(&["schedule", "k8s", "--image", "x", "--keyring", "k"]);
    let printed = printed.env("AGEKEEP_PASSPHRASE_FILE", &passphrase).output();
    let manifest = read(&stdout(&printed.expect("runs")));
    let (keys, expire) = (
        &pod(&manifest)["initContainers"][0],
        &pod(&manifest)["containers"][0],
    );

    // The volumes: the Secret as fsGroup leaves it, an empty folder for everybody, the claims.
    let folder = |name: &str| place.root().join(name);
    for name in ["secret", "keys", "data", "keyring"] {
        fs::create_dir(folder(name)).expect("makes a folder");
    }
    for (key, file) in [
        ("identity", place.identity()),
        ("signing_key", place.signing_key()),
        ("passphrase", passphrase),
    ] {
        let copy = folder("secret").join(key);
        fs::copy(file, &copy).expect("copies");
        chmod(&copy, 0o440);
    }
    chmod(&folder("keys"), 0o777);
    fs::rename(place.store(), folder("data").join("store")).expect("moves");
    let keyring = folder("data").join("store/keyring");
    fs::rename(keyring, folder("keyring").join("keyring")).expect("moves");

    let copied = run(&place, keys, false);
    assert!(copied.status.success(), "{}", stderr(&copied));
    for key in ["identity", "signing_key", "passphrase"] {
        assert_eq!(mode(&folder("keys").join(key)), 0o400, "{key}");
    }
    let again = run(&place, keys, false);
    assert!(
        again.status.success(),
        "a container starts again: {}",
        stderr(&again)
    );
    fs::remove_file(folder("secret").join("identity")).expect("removes");
    let refused = run(&place, keys, false);
    assert_eq!(refused.status.code(), Some(16), "{}", stderr(&refused));
    let looked = run(&place, expire, true);
    assert!(looked.status.success(), "{}", stderr(&looked));
    assert!(
        folder("data").join("state/agekeep").is_dir(),
        "what was seen is kept"
    );

    // As fsGroup leaves it, no key is of use: that is what the copies are for.
    for key in ["identity", "signing_key"] {
        chmod(&folder("keys").join(key), 0o440);
        let refused = run(&place, expire, true);
        assert_eq!(refused.status.code(), Some(12), "{key}");
        assert!(
            stderr(&refused).contains("other accounts can access the"),
            "{}",
            stderr(&refused)
        );
        chmod(&folder("keys").join(key), 0o400);
    }
}

#[test]
fn every_field_is_one_that_kubernetes_knows() {
    // Offline, it reads the manifest into its own types and prints those: a field that it does not
    // know is lost.
    if !has_peer("kubectl", "whether Kubernetes knows every field") {
        return;
    }
    let place = Place::new("plain", "plain");
    let through = |text: &str| -> Output {
        let mut kubectl = Command::new("kubectl");
        kubectl.args([
            "set",
            "image",
            "--local",
            "-f",
            "-",
            "*=through",
            "-o",
            "json",
        ]);
        feed(kubectl, text.as_bytes())
    };
    let text = place.ok(&["schedule", "k8s", "--image", "x", "--keyring", "k"]);
    let lost = |text: &str| {
        let output = through(text);
        assert!(output.status.success(), "{}", stderr(&output));
        let known: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut lost = Vec::new();
        compare(&read(text), &known, "", &mut lost);
        lost
    };
    assert_eq!(
        lost(&text),
        [
            ".spec.jobTemplate.spec.template.spec.containers.0.image",
            ".spec.jobTemplate.spec.template.spec.initContainers.0.image"
        ]
    );
    let misspelled = text.replace("readOnlyRootFilesystem", "readOnlyRootFileSystem");
    assert_eq!(lost(&misspelled).len(), 4);
    let mistaken = text.replace("backoffLimit: 3", "backoffLimit: often");
    assert!(!through(&mistaken).status.success());
}

/// Where what Kubernetes knows is not what was printed.
fn compare(printed: &Yaml, known: &Value, at: &str, lost: &mut Vec<String>) {
    let same = match (printed, known) {
        (Yaml::Hash(printed), Value::Object(known)) => {
            for (key, value) in printed {
                let key = key.as_str().expect("a text");
                let at = format!("{at}.{key}");
                compare(value, known.get(key).unwrap_or(&Value::Null), &at, lost);
            }
            true
        }
        (Yaml::Array(printed), Value::Array(known)) => {
            for (i, value) in printed.iter().enumerate() {
                let known = known.get(i).unwrap_or(&Value::Null);
                compare(value, known, &format!("{at}.{i}"), lost);
            }
            true
        }
        (Yaml::String(printed), Value::String(known)) => printed == known,
        (Yaml::Integer(printed), Value::Number(known)) => known.as_i64() == Some(*printed),
        (Yaml::Boolean(printed), Value::Bool(known)) => printed == known,
        _ => false,
    };
    if !same {
        lost.push(at.to_owned());
        lost.sort();
    }
}

#[test]
fn the_command_that_makes_the_secret_takes_the_files() {
    if !has_peer("kubectl", "whether the Secret gets the keys") {
        return;
    }
    for name in NAMES {
        let name = name.replace('=', "");
        let place = Place::new(&name, "plain");
        let text = place.ok(&["schedule", "k8s"]);
        let command = shown(&text, "kubectl create secret");
        let path = std::env::var("PATH").expect("set");
        let made = shell(&format!("{command} --dry-run=client -o json"), &path);
        assert!(made.status.success(), "{command}\n{}", stderr(&made));
        let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        assert_eq!(made["metadata"]["name"], "agekeep-sweeper");
        let data = made["data"].as_object().expect("an object");
        assert_eq!(data.len(), 2);
        for (key, file) in [
            ("identity", place.identity()),
            ("signing_key", place.signing_key()),
        ] {
            let bytes = Base64::decode_vec(data[key].as_str().expect("a text")).expect("base64");
            assert_eq!(bytes, fs::read(file).expect("there"), "{key}");
        }
    }
}
