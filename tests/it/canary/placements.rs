//! Placements of a secret: the cases of `fixtures/canary/*.txt`, each a commit that changes it.

use std::fs;

use crate::program::project;

/// The secrets of the older and the newer side, and one that both sides have. Nothing else contains eight characters of any of them.
pub(super) const SECRETS: [&str; 3] = ["Zq7Kp9Wx2Lm4Vt8Rb", "Yh3Nd6Gc1Fj5Xs0Qe", "Uw8Bz4Ta9Pk2Ho6Mv"];
/// Secrets that are numbers.
pub(super) const NUMBERS: [&str; 2] = ["918273645546372819", "736455463728190918"];

/// A place where a secret may be, on both sides of a change.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) name: String,
    /// The files of each side.
    pub(super) sides: [Vec<(String, Vec<u8>)>; 2],
    /// What commands about paths are asked.
    pub(super) path: String,
    /// What `diff` or `render` must print.
    pub(super) visible: Vec<String>,
}

/// Every placement, in the order of the files.
pub(super) fn all() -> Vec<Placement> {
    let mut names: Vec<_> = fs::read_dir(project().join("fixtures/canary"))
        .expect("the folder is there")
        .map(|member| member.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let class = name.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&name).expect("it is text");
        found.extend(text.split("\n=== ").skip(1).map(|block| placement(&class, block)));
    }
    found
}

fn placement(class: &str, block: &str) -> Placement {
    let (name, rest) = block.split_once('\n').expect("a placement has files");
    let mut placement = Placement {
        name: format!("{class}/{name}"),
        sides: [Vec::new(), Vec::new()],
        path: "/".to_owned(),
        visible: Vec::new(),
    };
    let mut file: Option<(&str, &str)> = None;
    let mut content = String::new();
    for line in rest.lines().chain(["--- "]) {
        if let Some(header) = line.strip_prefix("--- ") {
            if let Some((sides, path)) = file {
                placement.add(sides, path, content.trim_end_matches('\n'));
            }
            content.clear();
            file = Some(match header.split_once(' ') {
                Some((side @ ("before" | "after"), path)) => (side, path),
                _ => ("both", header),
            });
        } else if file.is_some() {
            content.push_str(line);
            content.push('\n');
        } else if let Some(path) = line.strip_prefix("path: ") {
            path.clone_into(&mut placement.path);
        } else if let Some(text) = line.strip_prefix("visible: ") {
            placement.visible.push(text.to_owned());
        }
    }
    placement
}

impl Placement {
    /// Whether only what a root renders says that the value is secret.
    pub(super) fn is_about_units(&self) -> bool {
        ["given/", "combined/"].iter().any(|file| self.name.starts_with(file))
    }

    fn add(&mut self, sides: &str, path: &str, content: &str) {
        for (at, side) in ["before", "after"].into_iter().enumerate() {
            if sides == side || sides == "both" {
                self.sides[at].push((path.to_owned(), filled(content, at)));
            }
        }
    }

    /// The files of both sides, each once.
    pub(super) fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.sides.iter().flatten().map(|(path, _)| path.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    pub(super) fn has(&self, side: usize, path: &str) -> bool {
        self.sides[side].iter().any(|(other, _)| other == path)
    }
}

fn filled(content: &str, side: usize) -> Vec<u8> {
    let (secret, kept) = (SECRETS[side], SECRETS[2]);
    let manifest = format!("apiVersion: v1\nkind: Secret\nstringData: {{password: {secret}}}\n");
    let text = format!("{content}\n")
        .replace("@C@", secret)
        .replace("@K@", kept)
        .replace("@C64@", &base64(secret.as_bytes()))
        .replace("@K64@", &base64(kept.as_bytes()))
        .replace("@S64@", &base64(manifest.as_bytes()))
        .replace("@D@", NUMBERS[side])
        .replace("@N@", &(side + 1).to_string())
        .replace("@CR@", "\r")
        .replace("@BOM@", "\u{feff}")
        .replace("@BEL@", "\u{7}");
    let mut bytes = text.into_bytes();
    while let Some(at) = bytes.windows(5).position(|window| window == b"@BAD@") {
        bytes.splice(at..at + 5, [0xff, 0xfe]);
    }
    bytes
}

/// Base64 with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let value = group.iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS[(value >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at > group.len() { '=' } else { digit });
        }
    }
    text
}
