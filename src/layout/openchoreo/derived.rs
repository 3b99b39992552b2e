//! What the helpers of expressions give: files, environment variables, volumes and ports of a workload.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use super::build::{MapBuilder, as_number, number};
use super::context::Configurations;
use super::names::{LONGEST, generated, generated_for};
use super::object::{items, text};
use crate::expression::cel::short_hash;
use crate::text::Span;
use crate::value::{Entry, Map, Node, StepKind};

/// What the helpers of a unit are made of.
pub(super) struct Helpers<'h> {
    /// `COMPONENT-ENVIRONMENT`.
    pub(super) prefix: &'h str,
    /// The variable `workload`.
    pub(super) workload: &'h Node,
    /// The variable `dependencies`.
    pub(super) dependencies: &'h Node,
    /// Resources by endpoint.
    pub(super) endpoint_resources: Node,
    pub(super) nowhere: Span,
}

impl Helpers<'_> {
    /// Everything that helpers give in the second generation.
    pub(super) fn node(&self, configurations: &Configurations) -> Node {
        let files = ContainerFiles { prefix: self.prefix, container: None, nowhere: self.nowhere };
        let list = |items: Vec<Node>| Node::list(items, self.nowhere);
        let dependency = |key: &str| list(items(self.dependencies, key).to_vec());
        MapBuilder::new(self.nowhere)
            .with("configFileList", list(files.config_files(configurations)))
            .with("secretFileList", list(files.secret_files(configurations)))
            .with("containerEnvFrom", list(files.env_from(configurations)))
            .with("configVolumeMounts", list(files.mounts(configurations)))
            .with("configVolumes", list(sorted(files.volumes(configurations))))
            .with("configEnvs", list(files.config_envs(configurations).into_iter().collect()))
            .with("secretEnvs", list(files.secret_envs(configurations).into_iter().collect()))
            .with("servicePorts", list(service_ports(self.workload, self.nowhere)))
            .with("dependencyEnvVars", dependency("envVars"))
            .with("dependencyVolumeMounts", dependency("volumeMounts"))
            .with("dependencyVolumes", dependency("volumes"))
            .with("endpointResources", self.endpoint_resources.clone())
            .done()
    }
}

/// Everything that helpers give in the first generation, where a workload has several containers.
pub(super) fn of_first_generation(
    prefix: &str,
    by_container: &BTreeMap<SmolStr, Configurations>,
    nowhere: Span,
) -> Node {
    let list = |items: Vec<Node>| Node::list(items, nowhere);
    let files = |container: &SmolStr| ContainerFiles { prefix, container: Some(container.clone()), nowhere };
    let each = |make: &dyn Fn(&ContainerFiles<'_>, &Configurations) -> Vec<Node>| {
        list(by_container.iter().flat_map(|(name, it)| make(&files(name), it)).collect())
    };
    let of = |make: &dyn Fn(&ContainerFiles<'_>, &Configurations) -> Vec<Node>| {
        let entry =
            |(name, it): (&SmolStr, &Configurations)| Entry::named(name.clone(), nowhere, list(make(&files(name), it)));
        Node::map(by_container.iter().map(entry).collect(), nowhere)
    };
    let volumes = by_container.iter().flat_map(|(name, it)| files(name).volumes(it)).map(|(_, volume)| volume);
    MapBuilder::new(nowhere)
        .with("configFileList", each(&|files, it| files.config_files(it)))
        .with("secretFileList", each(&|files, it| files.secret_files(it)))
        .with("containerEnvFromOf", of(&|files, it| files.env_from(it)))
        .with("configVolumeMountsOf", of(&|files, it| files.mounts(it)))
        .with("configVolumes", list(volumes.collect()))
        .with("configEnvs", each(&|files, it| files.config_envs(it).into_iter().collect()))
        .with("secretEnvs", each(&|files, it| files.secret_envs(it).into_iter().collect()))
        .done()
}

/// The files and variables of one container, and the names of what holds them.
struct ContainerFiles<'h> {
    prefix: &'h str,
    /// The name of the container; none where a workload has only one.
    container: Option<SmolStr>,
    nowhere: Span,
}

impl ContainerFiles<'_> {
    fn named(&self, parts: &[&str]) -> Node {
        Node::text(generated(&self.parts(parts), LONGEST), self.nowhere)
    }

    /// A name that changes with what it names, unless there are several containers: then upstream does not do so.
    fn named_for(&self, parts: &[&str], content: &str) -> Node {
        match self.container {
            Some(_) => self.named(parts),
            None => {
                let name = Node::text(generated_for(&self.parts(parts), content), self.nowhere);
                name.through(StepKind::NameSuffixHash, self.nowhere)
            }
        }
    }

    fn parts<'p>(&'p self, parts: &[&'p str]) -> Vec<&'p str> {
        [self.prefix].into_iter().chain(self.container.as_deref()).chain(parts.iter().copied()).collect()
    }

    fn config_name(&self, file: &Node) -> Node {
        self.named(&["config", &file_word(file)])
    }

    fn secret_name(&self, file: &Node) -> Node {
        self.named_for(&["secret", &file_word(file)], &short_hash(&remote_text(file)))
    }

    fn config_files(&self, configurations: &Configurations) -> Vec<Node> {
        let file = |file: &Node| self.file(file, &["name", "mountPath", "value", "remoteRef"], self.config_name(file));
        configurations.config_files.iter().map(file).collect()
    }

    fn secret_files(&self, configurations: &Configurations) -> Vec<Node> {
        let file = |file: &Node| self.file(file, &["name", "mountPath", "remoteRef"], self.secret_name(file));
        configurations.secret_files.iter().map(file).collect()
    }

    fn file(&self, file: &Node, keys: &[&str], name: Node) -> Node {
        let made =
            keys.iter().fold(MapBuilder::new(file.span), |made, key| made.with_some(key, file.get(key).cloned()));
        made.with("resourceName", name).done()
    }

    fn env_config_name(&self) -> Node {
        self.named(&["env-configs"])
    }

    fn env_secret_name(&self, configurations: &Configurations) -> Node {
        let text: String =
            configurations.secret_envs.iter().map(|env| format!("{}\0{}\0", name_of(env), remote_text(env))).collect();
        self.named_for(&["env-secrets"], &short_hash(&text))
    }

    fn env_from(&self, configurations: &Configurations) -> Vec<Node> {
        let reference = |kind: &str, name: Node| {
            MapBuilder::new(self.nowhere).with(kind, MapBuilder::new(self.nowhere).with("name", name).done()).done()
        };
        let configs =
            (!configurations.config_envs.is_empty()).then(|| reference("configMapRef", self.env_config_name()));
        let secrets = (!configurations.secret_envs.is_empty())
            .then(|| reference("secretRef", self.env_secret_name(configurations)));
        configs.into_iter().chain(secrets).collect()
    }

    fn config_envs(&self, configurations: &Configurations) -> Option<Node> {
        let envs = &configurations.config_envs;
        (!envs.is_empty()).then(|| self.envs(envs, self.env_config_name()))
    }

    fn secret_envs(&self, configurations: &Configurations) -> Option<Node> {
        let envs = &configurations.secret_envs;
        (!envs.is_empty()).then(|| self.envs(envs, self.env_secret_name(configurations)))
    }

    fn envs(&self, envs: &[Node], name: Node) -> Node {
        let container = self.container.as_ref().map(|name| Node::text(name.clone(), self.nowhere));
        MapBuilder::new(self.nowhere)
            .with_some("container", container)
            .with("resourceName", name)
            .with("envs", Node::list(envs.to_vec(), self.nowhere))
            .done()
    }

    fn volume_name(&self, file: &Node) -> SmolStr {
        let hash = short_hash(&format!("{}/{}", mount_path(file), name_of(file)));
        match &self.container {
            Some(container) => format_smolstr!("{container}-file-mount-{hash}"),
            None => format_smolstr!("file-mount-{hash}"),
        }
    }

    fn mounts(&self, configurations: &Configurations) -> Vec<Node> {
        let mount = |file: &Node| {
            MapBuilder::new(file.span)
                .with_text("name", self.volume_name(file))
                .with_text("mountPath", format!("{}/{}", mount_path(file), name_of(file)))
                .with_some("subPath", file.get("name").cloned())
                .done()
        };
        configurations.config_files.iter().chain(&configurations.secret_files).map(mount).collect()
    }

    /// Each once, by name; a secret wins over a configuration at the same place.
    fn volumes(&self, configurations: &Configurations) -> Vec<(SmolStr, Node)> {
        let volume = |file: &Node, kind: &str, key: &str, name: Node| {
            let volume = self.volume_name(file);
            let source = MapBuilder::new(self.nowhere).with(key, name).done();
            let made = MapBuilder::new(file.span).with_text("name", volume.clone()).with(kind, source).done();
            (volume, made)
        };
        let configs =
            configurations.config_files.iter().map(|it| volume(it, "configMap", "name", self.config_name(it)));
        let secrets =
            configurations.secret_files.iter().map(|it| volume(it, "secret", "secretName", self.secret_name(it)));
        let mut volumes: Vec<(SmolStr, Node)> = Vec::new();
        for (name, volume) in configs.chain(secrets) {
            match volumes.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = volume,
                None => volumes.push((name, volume)),
            }
        }
        volumes
    }
}

fn sorted(mut volumes: Vec<(SmolStr, Node)>) -> Vec<Node> {
    volumes.sort_by(|(a, _), (b, _)| a.cmp(b));
    volumes.into_iter().map(|(_, volume)| volume).collect()
}

fn name_of(node: &Node) -> &str {
    text(node, "name").unwrap_or_default()
}

fn mount_path(node: &Node) -> &str {
    text(node, "mountPath").unwrap_or_default()
}

fn file_word(file: &Node) -> String {
    name_of(file).replace('.', "-")
}

/// Key, property and version of a secret, as they are hashed.
fn remote_text(node: &Node) -> String {
    let part = |key: &str| node.get("remoteRef").and_then(|it| text(it, key)).unwrap_or_default();
    format!("{}\0{}\0{}", part("key"), part("property"), part("version"))
}

/// The longest name of a port.
const LONGEST_PORT: usize = 15;

/// The ports of a Service for all endpoints, in the order of their names.
fn service_ports(workload: &Node, nowhere: Span) -> Vec<Node> {
    let mut endpoints: Vec<&Entry> =
        workload.get("endpoints").and_then(Node::as_map).map(Map::entries).unwrap_or_default().iter().collect();
    endpoints.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    let (mut seen, mut taken, mut ports) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for Entry { key, value } in endpoints {
        let port = value.get("port").and_then(as_number).unwrap_or_default();
        let protocol = if text(value, "type") == Some("UDP") { "UDP" } else { "TCP" };
        if !seen.insert((port, protocol)) {
            continue;
        }
        let name = port_name(&key.name, port, &taken);
        taken.insert(name.clone());
        let written = |key: &str| value.get(key).cloned().unwrap_or_else(|| number(port, nowhere));
        let made = MapBuilder::new(value.span)
            .with_text("name", name)
            .with("port", written("port"))
            .with("targetPort", written("targetPort"))
            .with_text("protocol", protocol);
        ports.push(made.done());
    }
    ports
}

fn port_name(endpoint: &str, port: u64, taken: &BTreeSet<String>) -> String {
    let clean: String = endpoint.to_lowercase().replace('_', "-");
    let clean: String = clean.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-').collect();
    let mut base = clean.trim_matches('-').to_owned();
    if base.len() > LONGEST_PORT {
        base = base[..LONGEST_PORT].trim_end_matches('-').to_owned();
    }
    if base.is_empty() {
        base = format!("port-{port}");
    }
    let numbered = |count: u64| {
        let suffix = format!("-{count}");
        let room = LONGEST_PORT.saturating_sub(suffix.len());
        format!("{}{suffix}", &base[..base.len().min(room)])
    };
    std::iter::once(base.clone()).chain((2..).map(numbered)).find(|name| !taken.contains(name)).unwrap_or_default()
}
