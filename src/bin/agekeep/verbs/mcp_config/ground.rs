//! What a store stands on: a folder that a program copies elsewhere, or another machine's disk.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that services copy to their machines, by how their names begin.
const SYNCED: [&str; 10] = [
    "Dropbox",
    "OneDrive",
    "Google Drive",
    "GoogleDrive",
    "Mobile Documents",
    "CloudStorage",
    "Nextcloud",
    "ownCloud",
    "pCloud",
    "Syncthing",
];

/// What Syncthing puts into a folder that it copies.
const SYNCTHING_MARK: &str = ".stfolder";

/// File systems that are other machines', by how Linux names them.
const REMOTE: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.sshfs",
    "fuse.rclone",
    "davfs",
];

/// What may go wrong where the store stands, in one sentence.
pub(super) fn remark(store: &Path) -> Option<String> {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    if let Some(folder) = synced(&store) {
        return Some(format!(
            "the store is in {}, which is copied to other machines while it is written: two of them \
             can break its history; keep it elsewhere",
            folder.display()
        ));
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let kind = remote_kind(&mounts, &store)?;
    Some(format!(
        "the store is on a file system of another machine ({kind}), whose locks and flushes may not \
         hold what they promise; keep it on a disk of this one"
    ))
}

/// The folder above a path that is copied elsewhere.
fn synced(store: &Path) -> Option<PathBuf> {
    let is_synced = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| SYNCED.iter().any(|begin| name.starts_with(begin)))
            || folder.join(SYNCTHING_MARK).exists()
    };
    store.ancestors().find(is_synced).map(Path::to_owned)
}

/// The kind of the file system a path is on, where it is another machine's.
fn remote_kind<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mount = |line: &'a str| {
        let (before, after) = line.split_once(" - ")?;
        let at = unescaped(before.split(' ').nth(4)?);
        let kind = after.split(' ').next()?;
        path.starts_with(&at).then_some((at.len(), kind))
    };
    // Of two at the same place the later one covers the other.
    let (_, kind) = mounts
        .lines()
        .filter_map(mount)
        .max_by_key(|(length, _)| *length)?;
    REMOTE.contains(&kind).then_some(kind)
}

/// A path as the kernel lists it: spaces and the like are three octal digits.
fn unescaped(path: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(path.to_owned(), |path, (code, sign)| {
        path.replace(code, sign)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw
40 22 0:44 / /home rw - nfs4 server:/home rw
41 40 0:45 / /home/me/local rw - ext4 /dev/vdb rw
42 22 0:46 / /mnt/with\\040space rw shared:3 master:1 - fuse.sshfs me@there:/ rw
43 22 0:47 / /over rw - ext4 /dev/vdc rw
44 43 0:48 / /over rw - cifs //there/share rw
";

    #[test]
    fn the_innermost_mount_decides() {
        let kind = |path| remote_kind(MOUNTS, Path::new(path));
        assert_eq!(kind("/home/me/store"), Some("nfs4"));
        assert_eq!(kind("/home/me/local/store"), None);
        assert_eq!(kind("/mnt/with space/store"), Some("fuse.sshfs"));
        assert_eq!(kind("/over/store"), Some("cifs"));
        assert_eq!(kind("/homely/store"), None);
        assert_eq!(kind("/var/store"), None);
        assert_eq!(remote_kind("", Path::new("/x")), None);
    }

    #[test]
    fn folders_of_services_are_known_by_name() {
        let found = |path| synced(Path::new(path)).is_some();
        assert!(found("/home/me/Dropbox/store"));
        assert!(found("/home/me/Dropbox (Work)/x/store"));
        assert!(found(
            "/Users/me/Library/Mobile Documents/com~apple~CloudDocs/store"
        ));
        assert!(found("/Users/me/Library/CloudStorage/OneDrive-Work/store"));
        assert!(!found("/home/me/mydropbox/store"));
        assert!(!found("/home/me/.local/share/agekeep/store"));
    }
}
