//! Flux Kustomizations: a kustomization of the repository with what the object adds to it, built as the controller builds it.

mod envsubst;
mod ignored;
mod post_build;
mod printed;
mod scan;

use smol_str::SmolStr;

use super::accumulate::{self, Accumulated, Cache};
use super::external::Leaf;
use super::fields::{get_at, in_place_of, set_at};
use super::file::{self, Fields, Image, Kustomization, Patch, Text};
use super::load::{Loader, resolve};
use super::resource::Resource;
use super::{Built, Fatal, fatal, finished};
use crate::document::write::to_json;
use crate::finding;
use crate::path::RepoPath;
use crate::settings::Given;
use crate::value::{Entry, Node, StepKind};
use post_build::{Lookup, Variables};

/// Renders a Flux Kustomization. `lookup` finds the objects of the repository that it names: kind, namespace, name.
pub fn build_flux(object: &Node, given: Given<'_>, cache: &Cache, lookup: &Lookup<'_>) -> Built {
    let loader = Loader::new(given, &cache.files);
    let outcome = Flux::read(object).and_then(|flux| flux.build(&loader, cache, lookup));
    let mut built = finished(loader, outcome);
    // The controller reads files anywhere in the source.
    built.findings.retain(|finding| finding.rule.id != finding::KUSTOMIZE_OUTSIDE_ROOT.id);
    built
}

/// The object that is built.
struct Flux<'n> {
    object: &'n Node,
    spec: &'n Node,
    path: RepoPath,
}

impl<'n> Flux<'n> {
    fn read(object: &'n Node) -> Result<Self, Fatal> {
        let spec = object.get("spec").ok_or_else(|| fatal(object.span, "this Kustomization has no `spec`"))?;
        let written = spec.get("path").and_then(Node::as_str).unwrap_or_default();
        let outside = || fatal(spec.span, format!("the path `{written}` leads out of the repository"));
        let path = resolve(&RepoPath::root(), written.trim_start_matches('/')).ok_or_else(outside)?;
        Ok(Self { object, spec, path })
    }

    fn text(&self, name: &str) -> Option<Text> {
        let node = self.spec.get(name)?;
        node.as_str().filter(|text| !text.is_empty()).map(|text| Text { value: text.into(), span: node.span })
    }

    fn items(&self, name: &str) -> &'n [Node] {
        self.spec.get(name).and_then(Node::as_list).unwrap_or_default()
    }

    fn build(&self, loader: &Loader<'_>, cache: &Cache, lookup: &Lookup<'_>) -> Result<Accumulated, Fatal> {
        if let Some(suspended) =
            self.spec.get("suspend").filter(|node| matches!(node.value, crate::value::Value::Bool(true)))
        {
            loader.note(suspended.span, "this Kustomization is suspended, so Flux does not apply what it renders");
        }
        if let Some(leaf) = self.other_source(loader) {
            loader.note(
                leaf.span(),
                format!("the source of this Kustomization, {}, is not this repository", leaf.reference),
            );
            return Ok(Accumulated { leaves: vec![leaf], ..Accumulated::default() });
        }
        let mut kustomization = self.kustomization(loader)?;
        self.merge_into(&mut kustomization, loader)?;
        let mut accumulated = accumulate::of_kustomization(&self.path, &kustomization, loader, cache)?;
        let metadata = self.object.get("metadata");
        let namespace = metadata.and_then(|metadata| metadata.get("namespace")).and_then(Node::as_str);
        let variables = match self.spec.get("postBuild") {
            Some(post_build) => post_build::variables(post_build, namespace.unwrap_or_default(), lookup, loader)?,
            None => Variables::default(),
        };
        for resource in &mut accumulated.resources {
            variables.apply(resource, loader)?;
            self.add_common_metadata(resource);
        }
        Ok(accumulated)
    }

    /// The source, if it is known to be another one than this repository.
    fn other_source(&self, loader: &Loader<'_>) -> Option<Leaf> {
        let source = self.spec.get("sourceRef")?;
        let text = |name: &str| source.get(name).and_then(Node::as_str).unwrap_or_default();
        let is_there = || !loader.given().snapshot.list(&self.path).entries.is_empty();
        let is_own = match text("kind") {
            "GitRepository" | "" => text("name") == "flux-system" || !self.path.is_root() && is_there(),
            _ => false,
        };
        if is_own {
            return None;
        }
        loader.note_listing(&self.path);
        let name = SmolStr::from(format!("{} {}", text("kind"), text("name")));
        Some(Leaf {
            field: "sourceRef",
            reference: name,
            revision: None,
            entry: self.spec.clone(),
            files: Vec::new(),
            applied: Vec::new(),
        })
    }

    /// The kustomization of the directory, or the one that Flux makes of the files below it.
    fn kustomization(&self, loader: &Loader<'_>) -> Result<Kustomization, Fatal> {
        if let Some(found) = loader.kustomization(&self.path)? {
            return Ok(Kustomization::clone(&found));
        }
        let at = self.spec.get("path").map_or(self.spec.span, |path| path.span);
        if !self.path.is_root() && loader.given().snapshot.list(&self.path).entries.is_empty() {
            loader.note_listing(&self.path);
            return Err(fatal(at, format!("there is no directory `{}`", self.path)));
        }
        let resources = scan::resources(&self.path, at, loader)?;
        let entry = Entry::named("resources", at, Node::list(Vec::new(), at));
        Ok(Kustomization { resources, ..file::read(&Node::map(vec![entry], at))? })
    }

    /// Adds what the object says to a kustomization.
    fn merge_into(&self, kustomization: &mut Kustomization, loader: &Loader<'_>) -> Result<(), Fatal> {
        if let Some(namespace) = self.text("targetNamespace") {
            kustomization.namespace = Some(namespace);
        }
        if let Some(prefix) = self.text("namePrefix") {
            kustomization.name_prefix = Some(prefix);
        }
        if let Some(suffix) = self.text("nameSuffix") {
            kustomization.name_suffix = Some(suffix);
        }
        for patch in self.items("patches") {
            kustomization.patches.push(file::read_patch(patch)?);
        }
        for patch in self.items("patchesStrategicMerge") {
            kustomization.patches_strategic_merge.push(Text { value: to_json(patch).into(), span: patch.span });
        }
        for patch in self.items("patchesJson6902") {
            kustomization.patches_json6902.push(json_patch(patch)?);
        }
        for image in self.items("images") {
            add_image(&mut kustomization.images, file::read_image(image)?);
        }
        self.add_components(kustomization, loader)?;
        // What the object applies is also applied to contents that are not in the repository.
        let entries = self.spec.as_map().map_or(&[][..], |map| map.entries()).iter();
        let own = kustomization.node.as_map().map_or(&[][..], |map| map.entries()).iter();
        let is_merged = |entry: &&Entry| {
            ["targetNamespace", "namePrefix", "nameSuffix", "patches", "images"].contains(&entry.key.name.as_str())
        };
        let added = entries.filter(is_merged).map(|entry| {
            Entry::named(SmolStr::from(format!("spec.{}", entry.key.name)), entry.key.span, entry.value.clone())
        });
        kustomization.node = Node::map(own.cloned().chain(added).collect(), kustomization.node.span);
        Ok(())
    }

    fn add_components(&self, kustomization: &mut Kustomization, loader: &Loader<'_>) -> Result<(), Fatal> {
        let fields = Fields::of(self.spec);
        let ignores_missing = fields.flag("ignoreMissingComponents")?;
        for name in fields.texts("components")? {
            let path = resolve(&self.path, &name.value);
            let is_there = path.map(|path| loader.kustomization(&path)).transpose()?.flatten().is_some();
            if is_there || !ignores_missing {
                kustomization.components.push(name);
            }
        }
        Ok(())
    }

    /// Labels and annotations that every object gets, over its own.
    fn add_common_metadata(&self, resource: &mut Resource) {
        let Some(common) = self.spec.get("commonMetadata") else { return };
        for field in ["labels", "annotations"] {
            let entries = common.get(field).and_then(Node::as_map).map_or(&[][..], |map| map.entries());
            for entry in entries {
                let path = ["metadata", field, entry.key.name.as_str()];
                let value = entry.value.clone().through(StepKind::Kustomize("commonMetadata"), entry.value.span);
                let value = in_place_of(get_at(&resource.node, &path), value);
                resource.node = set_at(&resource.node, &path, value);
            }
        }
    }
}

/// A patch whose operations are written as a list of the object.
fn json_patch(node: &Node) -> Result<Patch, Fatal> {
    let operations = node.get("patch").ok_or_else(|| fatal(node.span, "this patch has no `patch`"))?;
    let text = Node::text(to_json(operations), operations.span);
    file::read_patch(&set_at(node, &["patch"], text))
}

/// Adds an image; one of the same name takes its new name, and its tag or digest.
fn add_image(images: &mut Vec<Image>, image: Image) {
    let Some(known) = images.iter_mut().find(|known| known.name.value == image.name.value) else {
        images.push(image);
        return;
    };
    if image.new_name.is_some() {
        known.new_name = image.new_name;
    }
    if image.new_tag.is_some() || image.digest.is_some() {
        (known.new_tag, known.digest) = (image.new_tag, image.digest);
    }
}
