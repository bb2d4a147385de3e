//! What a disk holds, taken from a folder and put into one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::fault::disk::{Disk, Image, ROOT, Step};

/// Every file and folder below a folder.
pub(crate) fn read(root: &Path) -> Image {
    let mut image = Image::default();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("lists") {
            let path = entry.expect("lists").path();
            let meta = fs::symlink_metadata(&path).expect("there");
            let mode = meta.permissions().mode() & 0o7777;
            let name = path
                .strip_prefix(root)
                .expect("below")
                .to_str()
                .expect("UTF-8");
            let name = format!("/{name}");
            if meta.is_dir() {
                image.folders.insert(name, mode);
                open.push(path);
            } else {
                assert!(meta.is_file(), "{name} is neither file nor folder");
                image
                    .files
                    .insert(name, (mode, fs::read(&path).expect("reads")));
            }
        }
    }
    image
}

impl Image {
    /// The first few names that are not the same.
    pub(crate) fn differs(&self, other: &Self) -> String {
        let names = self.files.keys().chain(other.files.keys());
        let folders = self.folders.keys().chain(other.folders.keys());
        let files = names.filter(|name| self.files.get(*name) != other.files.get(*name));
        let folders = folders.filter(|name| self.folders.get(*name) != other.folders.get(*name));
        let said: Vec<String> = files
            .chain(folders)
            .take(6)
            .map(|name| {
                let of = |image: &Self| {
                    image
                        .files
                        .get(name)
                        .map(|(mode, bytes)| format!("{mode:o}, {} bytes", bytes.len()))
                };
                format!("{name}: {:?} and {:?}", of(self), of(other))
            })
            .collect();
        said.join("; ")
    }

    /// Writes it all into an empty folder.
    pub(crate) fn write_to(&self, root: &Path) {
        let place = |name: &str| root.join(name.trim_start_matches('/'));
        // Parents come before what is in them.
        for name in self.folders.keys() {
            fs::create_dir(place(name)).expect("makes a folder");
        }
        for (name, (mode, bytes)) in &self.files {
            let path = place(name);
            fs::write(&path, bytes).expect("writes");
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).expect("sets the mode");
        }
        for (name, mode) in &self.folders {
            let mode = fs::Permissions::from_mode(*mode);
            fs::set_permissions(place(name), mode).expect("sets the mode");
        }
    }
}

impl Disk {
    /// A disk that holds this, for sure.
    pub(crate) fn of(image: &Image) -> Self {
        let mut disk = Self::new();
        let mut folders = BTreeMap::from([(String::new(), ROOT)]);
        for (name, mode) in &image.folders {
            let inode = disk.unused();
            let (above, last) = name.rsplit_once('/').expect("absolute");
            disk.apply(&Step::NewFolder(inode, *mode));
            disk.apply(&Step::Link((folders[above], last.to_owned()), inode));
            folders.insert(name.clone(), inode);
        }
        for (name, (mode, bytes)) in &image.files {
            let inode = disk.unused();
            let (above, last) = name.rsplit_once('/').expect("absolute");
            disk.apply(&Step::NewFile(inode, *mode));
            disk.apply(&Step::Link((folders[above], last.to_owned()), inode));
            disk.apply(&Step::Write(inode, 0, bytes.as_slice().into()));
        }
        disk.settle();
        disk
    }
}

/// What is left of a mode: the kernel takes some of it.
pub(crate) fn masked(mode: i64) -> u32 {
    u32::try_from(mode).expect("a mode") & !umask()
}

/// What the kernel takes from every mode here.
fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    u32::from_str_radix(line.expect("always there").trim(), 8).expect("octal")
}
