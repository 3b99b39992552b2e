//! The rules about documents of OpenChoreo.

use super::{Kind, Rule, link};
use crate::finding::Severity;

rules! {
    OPENCHOREO;
    OPENCHOREO_ALLOWED_TRAITS = "openchoreo/allowed-traits", Conflict, Error,
        "a list of allowed traits has an entry twice, without a name, or of an embedded trait",
        "The platform rejects the type. Remove the entry; a trait that the type embeds is there without being allowed.";
    OPENCHOREO_ALLOWED_WORKFLOWS = "openchoreo/allowed-workflows", Conflict, Error,
        "a list of allowed workflows has an entry twice or without a name",
        "The platform rejects the type. Remove the entry, or give it a name.";
    OPENCHOREO_BINDING_DUPLICATE = "openchoreo/binding-duplicate", Conflict, Error,
        "a component has two bindings for one environment",
        "Only one binding can deploy a component to an environment, and which one wins is not defined. Remove one, or correct its \
         environment.";
    OPENCHOREO_BINDING_ENVIRONMENT = "openchoreo/binding-environment", NotFound, Warning,
        "a binding deploys to an environment that its project's pipeline does not have",
        "Promotion along the pipeline never reaches such an environment. Add it to the promotion paths, or correct the name.";
    OPENCHOREO_COMPONENT_TYPE_FORM = "openchoreo/component-type-form", Validation, Error,
        "a component names its type without the workload type",
        "The name of a type is `WORKLOAD-TYPE/NAME`, such as `deployment/web`. Without the first part the platform does not find the \
         type.";
    OPENCHOREO_CT_PROXY_WORKLOAD = "openchoreo/ct-proxy-workload", Validation, Error,
        "a component type for proxies has a workload",
        "A type with `workloadType: proxy` deploys no containers of its own; the platform rejects a Deployment, StatefulSet, \
         DaemonSet, CronJob or Job in it.";
    OPENCHOREO_CT_WORKLOAD_RESOURCE = "openchoreo/ct-workload-resource", Validation, Error,
        "a component type does not have exactly one resource of its workload type",
        "Exactly one template has the kind that `workloadType` names, and no other template has the kind of a workload. The platform \
         rejects the type otherwise.";
    OPENCHOREO_DEPENDENCY_ENDPOINT = "openchoreo/dependency-endpoint", NotFound, Error,
        "a workload depends on an endpoint that the other component does not have",
        "The connection can never be resolved, and the release does not become ready. Correct the name, or add the endpoint to the \
         workload of the other component.";
    OPENCHOREO_DEPENDENCY_PROJECT = "openchoreo/dependency-project", NotFound, Error,
        "a workload depends on a component of another project than it says",
        "Components are looked up by project and name; `project` defaults to the own project. Write the project of the other \
         component.";
    OPENCHOREO_DEPENDENCY_VISIBILITY = "openchoreo/dependency-visibility", Validation, Warning,
        "a workload depends on an endpoint that is not visible to its project",
        "An endpoint is visible in its own project unless `visibility` says more. Make the endpoint visible, or ask for a visibility \
         that it has.";
    OPENCHOREO_EMBEDDED_TRAIT = "openchoreo/embedded-trait", Validation, Error,
        "a component type embeds a trait without a name or without an instance name",
        "Both are required; the platform rejects the type.";
    OPENCHOREO_EMBEDDED_TRAIT_KIND = "openchoreo/embedded-trait-kind", Validation, Error,
        "a cluster component type embeds a trait of a namespace",
        "A type of the whole cluster can only use traits of the whole cluster: `kind: ClusterTrait`.";
    OPENCHOREO_ENVCONFIGS = "openchoreo/envconfigs", Validation, Error,
        "values of an environment do not match the schema of the component type",
        "The release cannot be rendered. The message lists every violation after defaults are filled in.";
    OPENCHOREO_EXPR_BOOL = "openchoreo/expr-bool", Validation, Error,
        "a condition is an expression that does not give a boolean",
        "`includeWhen`, `where`, `when` and `rule` must be true or false. Compare the value with something, or use `has(…)`.";
    OPENCHOREO_EXPR_ITERABLE = "openchoreo/expr-iterable", Validation, Error,
        "`forEach` is an expression that gives neither a list nor a map",
        "There is nothing to loop over.";
    OPENCHOREO_EXPR_SYNTAX = "openchoreo/expr-syntax", Validation, Error,
        "an expression cannot be parsed",
        "The snippet shows the expression. A `${` inside another one must be in quotes.";
    OPENCHOREO_EXPR_TYPE = "openchoreo/expr-type", Validation, Error,
        "an expression combines values of types that do not fit",
        "The expression fails for every component, because the types are known from the schema.";
    OPENCHOREO_EXPR_UNKNOWN_FIELD = "openchoreo/expr-unknown-field", NotFound, Error,
        "an expression reads a field that does not exist",
        "The schema of the type or trait, or the context of the platform, has no such field, so that the expression fails. `has(…)` \
         and `.?` do not help: the platform checks the field before it is read.";
    OPENCHOREO_EXPR_UNKNOWN_NAME = "openchoreo/expr-unknown-name", NotFound, Error,
        "an expression uses a name that is not known where it is written",
        "`trait` exists only in traits, `resource` only in `where` and in rules for rendered resources, a loop variable only inside \
         of its loop. The help line names the nearest known name.";
    OPENCHOREO_EXPR_WRAP = "openchoreo/expr-wrap", Validation, Error,
        "a condition or a loop is not written as one expression `${…}`",
        "`includeWhen`, `forEach`, `when` and `rule` are one expression and nothing else.";
    OPENCHOREO_IMMUTABLE = "openchoreo/immutable", Conflict, Error,
        "a change edits a field that cannot be changed",
        "The API server rejects the update: owners, the type of a component, the environment of a binding, the workload type and \
         releases are fixed once they are created. Create a new object instead.";
    OPENCHOREO_NOT_RENDERED = "openchoreo/not-rendered", NotFound, Note,
        "a component is not rendered because something it needs is not in the repository",
        "Nothing is fetched. If types and traits are kept elsewhere, copy them to a directory and name it under `catalog:` in \
         outcrop.yaml.";
    OPENCHOREO_OBJECT_DUPLICATE = "openchoreo/object-duplicate", Conflict, Note,
        "an object is written in several files",
        "Repositories with samples hold such copies on purpose: a reference takes the nearest one. In a repository that is applied as \
         a whole, the last one wins.";
    OPENCHOREO_OLD_GENERATION = "openchoreo/old-generation", Validation, Note,
        "a document is written for an older generation of OpenChoreo",
        "It is rendered by the rules of its own generation. Newer versions of the platform do not accept it.";
    OPENCHOREO_OWNER_MISMATCH = "openchoreo/owner-mismatch", Conflict, Error,
        "a workload or a binding names another project than its component",
        "The platform does not connect the two. Write the project of the component.";
    OPENCHOREO_PARAMS = "openchoreo/params", Validation, Error,
        "parameters of a component do not match the schema of its type",
        "The component cannot be rendered. The message lists every violation after defaults are filled in.";
    OPENCHOREO_PARAMS_IGNORED = "openchoreo/params-ignored", Validation, Warning,
        "values are given where the type or trait has no schema for them",
        "They are ignored by the platform: without a schema section nothing is passed on. Remove them, or add the section.";
    OPENCHOREO_PATCH_OPERATION = "openchoreo/patch-operation", Validation, Error,
        "an operation of a trait's patch is not complete",
        "An operation is `add`, `replace` or `remove`, has a path, and a value unless it removes. `mergeShallow` is known to outcrop \
         and not to the platform.";
    OPENCHOREO_PATCH_TARGET = "openchoreo/patch-target", Validation, Error,
        "a patch or a rule does not say which version and kind it is for",
        "`target` needs `version` and `kind`.";
    OPENCHOREO_PIPELINE_ROOT = "openchoreo/pipeline-root", Validation, Error,
        "a deployment pipeline has no first environment",
        "There are no promotion paths, or every environment is the target of another one, so that nothing can be deployed first.";
    OPENCHOREO_PLACEHOLDER = "openchoreo/placeholder", NotFound, Note,
        "something that is not in git is rendered as a placeholder",
        "Data planes, secrets and outputs of resources exist only in a cluster. Placeholders are the same in both revisions, so that \
         differences are exact.";
    OPENCHOREO_REF_ALLOWED_TRAIT = "openchoreo/ref-allowed-trait", NotFound, Note,
        "an allowed trait is not in the repository",
        "It may be kept elsewhere; nothing fails until a component uses it.";
    OPENCHOREO_REF_COMPONENT = "openchoreo/ref-component", NotFound, Note,
        "a component that is referred to is not in the repository",
        "If the repository holds other components, the name is probably misspelled. A component that this change removes is an error.";
    OPENCHOREO_REF_COMPONENT_TYPE = "openchoreo/ref-component-type", NotFound, Note,
        "the type of a component is not in the repository",
        "Types are often kept elsewhere; `catalog:` in outcrop.yaml names directories that have them. Without its type a component is \
         not rendered.";
    OPENCHOREO_REF_DATA_PLANE = "openchoreo/ref-data-plane", NotFound, Note,
        "the data plane of an environment is not in the repository",
        "A placeholder is rendered in its place.";
    OPENCHOREO_REF_DEPENDENCY = "openchoreo/ref-dependency", NotFound, Note,
        "a component that a workload depends on is not in the repository",
        "The address of the endpoint is rendered as a placeholder.";
    OPENCHOREO_REF_ENVIRONMENT = "openchoreo/ref-environment", NotFound, Note,
        "an environment is not in the repository",
        "If the repository holds other environments, the name is probably misspelled.";
    OPENCHOREO_REF_PIPELINE = "openchoreo/ref-pipeline", NotFound, Note,
        "the deployment pipeline of a project is not in the repository",
        "Without it, it is not known where components are deployed first.";
    OPENCHOREO_REF_PROJECT = "openchoreo/ref-project", NotFound, Note,
        "the project of a component is not in the repository",
        "If the repository holds other projects, the name is probably misspelled.";
    OPENCHOREO_REF_RELEASE = "openchoreo/ref-release", NotFound, Note,
        "the release of a binding is not in the repository",
        "Releases are often made by the platform. Where they are kept in git, the name is probably misspelled.";
    OPENCHOREO_REF_RESOURCE = "openchoreo/ref-resource", NotFound, Note,
        "a resource that a workload depends on is not in the repository",
        "Its outputs are rendered as placeholders.";
    OPENCHOREO_REF_SECRET = "openchoreo/ref-secret", NotFound, Note,
        "a secret reference is not in the repository",
        "The secret is rendered as a placeholder.";
    OPENCHOREO_REF_TRAIT = "openchoreo/ref-trait", NotFound, Note,
        "a trait is not in the repository",
        "Traits are often kept elsewhere; `catalog:` in outcrop.yaml names directories that have them. Without its traits a component \
         is not rendered.";
    OPENCHOREO_REF_WORKFLOW = "openchoreo/ref-workflow", NotFound, Note,
        "a workflow is not in the repository",
        "Workflows are often part of the platform's installation.";
    OPENCHOREO_REF_WORKLOAD = "openchoreo/ref-workload", NotFound, Note,
        "a component has no workload",
        "The workload may be written by a build. Without one, the component is not rendered.";
    OPENCHOREO_RELEASE_IMAGE = "openchoreo/release-image", Validation, Error,
        "a release has no image",
        "A release is a frozen copy that can be deployed as it is; its container needs an image.";
    OPENCHOREO_RELEASE_OWNER = "openchoreo/release-owner", Conflict, Error,
        "a binding deploys the release of another component",
        "The owner of the release and the owner of the binding must be the same component of the same project.";
    OPENCHOREO_RELEASE_PARAMS = "openchoreo/release-params", Validation, Error,
        "parameters of a release do not match its frozen schema",
        "They are checked as they are, without defaults: a release holds everything that is deployed.";
    OPENCHOREO_RELEASE_TRAIT_DUP = "openchoreo/release-trait-dup", Conflict, Error,
        "a release holds a trait twice",
        "Which copy applies is not defined; the platform rejects the release.";
    OPENCHOREO_RELEASE_TRAIT_MISSING = "openchoreo/release-trait-missing", NotFound, Error,
        "a release uses a trait of which it holds no copy",
        "A release holds a copy of every trait that its component uses; the platform rejects it otherwise.";
    OPENCHOREO_RULE_MESSAGE = "openchoreo/rule-message", Validation, Error,
        "a rule for rendered resources has no message",
        "The message is all that a developer sees when the rule fails; the platform requires it.";
    OPENCHOREO_SCHEMA_INVALID = "openchoreo/schema-invalid", Validation, Error,
        "the schema of a type or a trait cannot be used",
        "The message says why: a reference that leads nowhere or to itself, or something that the API server does not allow in a \
         schema.";
    OPENCHOREO_SCHEMA_KEYWORD = "openchoreo/schema-keyword", Validation, Error,
        "the schema of a type or a trait has an unknown keyword",
        "A misspelled keyword checks nothing. Keys that start with `x-` are allowed.";
    OPENCHOREO_SECRET_KEY = "openchoreo/secret-key", NotFound, Error,
        "a secret reference does not have the key that a workload reads",
        "The message lists the keys that it has.";
    OPENCHOREO_TEMPLATE_HEADER = "openchoreo/template-header", Validation, Error,
        "a template lacks what every resource has, or computes what must be fixed",
        "Every template has `apiVersion`, `kind` and `metadata.name`; the kind is no expression, and a namespace is exactly \
         `${metadata.namespace}`.";
    OPENCHOREO_TRAIT_CREATES_WORKLOAD = "openchoreo/trait-creates-workload", Validation, Error,
        "a trait creates a workload",
        "The one workload of a component belongs to its type; the platform rejects the trait.";
    OPENCHOREO_TRAIT_ENVCONFIGS = "openchoreo/trait-envconfigs", Validation, Error,
        "values of an environment do not match the schema of a trait",
        "The release cannot be rendered. The message lists every violation after defaults are filled in.";
    OPENCHOREO_TRAIT_ENVCONFIGS_INSTANCE = "openchoreo/trait-envconfigs-instance", NotFound, Warning,
        "a binding has values for a trait instance that the component does not have",
        "They are ignored by the platform. Instances that the type embeds take their values from the type alone.";
    OPENCHOREO_TRAIT_INSTANCE_COLLISION = "openchoreo/trait-instance-collision", Conflict, Error,
        "a component uses the instance name of a trait that its type embeds",
        "Instance names are unique over both; rename the instance of the component.";
    OPENCHOREO_TRAIT_INSTANCE_DUP = "openchoreo/trait-instance-dup", Conflict, Error,
        "two traits have the same instance name",
        "Instance names tell the values of traits apart; each is used once.";
    OPENCHOREO_TRAIT_NOT_ALLOWED = "openchoreo/trait-not-allowed", Validation, Error,
        "a component uses a trait that its type does not allow",
        "`allowedTraits` of the type lists the traits that components may add; without a list there are none. The kind counts too.";
    OPENCHOREO_TRAIT_PARAMS = "openchoreo/trait-params", Validation, Error,
        "parameters of a trait do not match its schema",
        "The component cannot be rendered. The message lists every violation after defaults are filled in.";
    OPENCHOREO_TRAIT_REMOVES_WORKLOAD = "openchoreo/trait-removes-workload", Validation, Error,
        "a trait removes a workload",
        "The one workload of a component belongs to its type; the platform rejects the trait.";
    OPENCHOREO_UNIT_FAILED = "openchoreo/unit-failed", Validation, Error,
        "a component cannot be rendered",
        "Everything that it needs is there, and rendering fails as it would in the cluster. The message names the stage and the \
         reason.";
    OPENCHOREO_WORKFLOW_NOT_ALLOWED = "openchoreo/workflow-not-allowed", Validation, Error,
        "a component uses a workflow that its type does not allow",
        "`allowedWorkflows` of the type lists the workflows that components may use; without a list there are none.";
    OPENCHOREO_WORKLOAD_MANY = "openchoreo/workload-many", Conflict, Error,
        "a component has several workloads",
        "Exactly one workload belongs to a component; the platform uses none of several.";
    OPENCHOREO_WORKLOAD_TYPE_MISMATCH = "openchoreo/workload-type-mismatch", Validation, Error,
        "a component names its type with another workload type",
        "The first part of `WORKLOAD-TYPE/NAME` must be the `workloadType` of the type; otherwise the platform does not find it.";
}
