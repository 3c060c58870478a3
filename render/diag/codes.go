package diag

// Code names a kind of diagnostic, as users look it up in docs/diagnostics.md. It is stable
// and in kebab-case. That page says of each code what its comment here says, and what helps.
type Code string

// The codes of what is wrong with files and objects.
const (
	// MissingWhileBroken: objects went missing from the source while a part of it cannot be
	// read, and may be in that part. They stay as they were until it is mended, or their
	// removal is allowed.
	MissingWhileBroken Code = "missing-while-broken"
	// UnlistedStays: an earlier version of Waybill delivered files that no kustomization lists. What
	// is in them stays as it was published until it is listed, its file is deleted, or its removal
	// is allowed.
	UnlistedStays Code = "unlisted-stays"
	// Malformed: a document is no valid YAML or JSON. What the file held stays as it was last
	// published.
	Malformed Code = "malformed"
	// DuplicateKey: a key stands twice in one mapping; tools differ in which one counts.
	DuplicateKey Code = "duplicate-key"
	// FileTooLarge: a file is over 5 MiB without its CustomResourceDefinitions, or over 16 MiB
	// with them.
	FileTooLarge Code = "file-too-large"
	// YAMLAliases: a document has over 100 aliases, or one that contains itself.
	YAMLAliases Code = "yaml-aliases"
	// YAMLExpansion: a document grows over ten times when its aliases are expanded.
	YAMLExpansion Code = "yaml-expansion"
	// YAMLDepth: a document is nested over 100 levels deep.
	YAMLDepth Code = "yaml-depth"
	// Unreadable: a file is not in the repository, as in a partial clone, or a folder is in
	// over 64 folders, or there is no room for it among the 200,000 paths of a source: of the
	// folders in a folder the smaller ones are read first. What was in it stays as it was.
	Unreadable Code = "unreadable"
	// LFSPointer: a file is a Git LFS pointer instead of a manifest.
	LFSPointer Code = "lfs-pointer"
	// Symlink: a symbolic link is never followed.
	Symlink Code = "symlink"
	// Submodule: a submodule, or another repository inside, is never followed.
	Submodule Code = "submodule"
	// NoName: a manifest has no `metadata.name`, one that YAML reads as no string, or
	// `generateName`.
	NoName Code = "no-name"
	// UnknownScope: an object without a namespace is of a kind that nothing here defines; it
	// is taken for cluster-scoped.
	UnknownScope Code = "unknown-scope"
	// DuplicateObject: an object is defined twice in one scope, or a cluster would receive it
	// twice. Both places are named.
	DuplicateObject Code = "duplicate-object"
	// SamePath: two objects would be one file on a branch.
	SamePath Code = "same-path"
	// NotRendered: a Kustomize root or a release that this program has no engine for. Nothing
	// of it is delivered.
	NotRendered Code = "not-rendered"
	// BadConfig: `waybill.yaml` has a mistake, or it or `.waybillignore` is a link. Nothing is
	// published until it is mended.
	BadConfig Code = "bad-config"
	// BadPath: `waybill.dev/path` on a Cluster names no folder below the root of the source.
	// The one that it named before stays bound.
	BadPath Code = "bad-path"
	// Written: folders with a `waybill.metadata` hold what `waybill render --out` wrote; they
	// are not read as source.
	Written Code = "written"
	// NotListed: files of manifests stand in the folder of a kustomization that does not list
	// them. They are not read.
	NotListed Code = "not-listed"
	// EmptyFolder: a Cluster is bound to a folder that holds nothing for it.
	EmptyFolder Code = "empty-folder"
	// ArgoCD: an Application or an ApplicationSet of Argo CD stands in the source. It is a manifest
	// like any other: what it stands for is not rendered.
	ArgoCD Code = "argo-cd"
)

// The codes of what is rendered.
const (
	// BadRelease: a HelmRelease or a Kustomization of Flux has a field that cannot be
	// followed, or its chart cannot be loaded.
	BadRelease Code = "bad-release"
	// OtherSource: a HelmRelease or a Kustomization of Flux takes files from a source that is not
	// this repository, or another branch of it. What it rendered to stays as it was.
	OtherSource Code = "other-source"
	// SourceAssumed: a HelmRelease or a Kustomization of Flux takes files from a GitRepository of
	// which nothing says that it is this repository: it is not in the source, or the only one there.
	// It is taken for this repository.
	SourceAssumed Code = "source-assumed"
	// SourceIgnore: the source of a release leaves files out by `spec.ignore`; here they are read.
	SourceIgnore Code = "source-ignore"
	// ReleaseSuspended: `spec.suspend` is set. What the release rendered to stays as it was.
	ReleaseSuspended Code = "release-suspended"
	// NotOrdered: a release says what it waits for (`dependsOn`, `healthChecks`), and a branch has no
	// such order.
	NotOrdered Code = "not-ordered"
	// NestedRelease: a release renders to another release. Releases are read from the source
	// only.
	NestedRelease Code = "nested-release"
	// NestedPolicy: a release renders to a policy or a cluster. Those are read from the source
	// only.
	NestedPolicy Code = "nested-policy"
	// Helm: a chart cannot be rendered: the message is Helm's.
	Helm Code = "helm"
	// Kustomize: a kustomization cannot be built: the message says why.
	Kustomize Code = "kustomize"
	// KustomizeBuild: Kustomize refuses to build a kustomization: the message is Kustomize's.
	KustomizeBuild Code = "kustomize-build"
	// KustomizeInvalid: a kustomization file cannot be read, or has a field that Kustomize
	// does not know.
	KustomizeInvalid Code = "kustomize-invalid"
	// KustomizeMissing: a folder that is to be built has no kustomization file, or several.
	KustomizeMissing Code = "kustomize-missing"
	// KustomizeLocation: a kustomization names a file or folder that is not in the source, or
	// that it may not use.
	KustomizeLocation Code = "kustomize-location"
	// KustomizeRemote: a kustomization names a place outside the repository, which no build
	// may reach.
	KustomizeRemote Code = "kustomize-remote"
	// KustomizeNoManifest: a folder without a kustomization holds a YAML file that is no
	// manifest, and a Kustomization of Flux is built from every one below it.
	KustomizeNoManifest Code = "kustomize-no-manifest"
	// KustomizePlugin: a kustomization uses a plugin that is not built in, or one whose
	// configuration cannot be read.
	KustomizePlugin Code = "kustomize-plugin"
	// KustomizeHelm: a chart that a kustomization inflates cannot be rendered, or would be for
	// several namespaces at once.
	KustomizeHelm Code = "kustomize-helm"
	// KustomizeTooMany: a kustomization stands for over 10,000 builds of folders, because
	// bases use others several times.
	KustomizeTooMany Code = "kustomize-too-many"
	// FluxKustomization: a Kustomization of Flux has a path that is no folder, or an empty
	// patch.
	FluxKustomization Code = "flux-kustomization"
	// RenderFailed: the process that renders could not do it: it passed a limit, died, or
	// lacks a sandbox.
	RenderFailed Code = "render-failed"
	// SecretName: a release names an object by a value of a Secret, or puts one into a policy;
	// names stand in paths and in the state. Not with `secrets: allow`.
	SecretName Code = "secret-name"
	// RandomKey: the random key is missing, or is another than was used last. What was drawn
	// or encrypted with that one stays as it was.
	RandomKey Code = "random-key"
	// NoManifest: a release renders a document that has no apiVersion or no kind.
	NoManifest Code = "no-manifest"
	// HelmNotice: what a chart does that is worth knowing, such as an allowed function whose
	// result may change.
	HelmNotice Code = "helm-notice"
	// HooksDropped: a chart has hooks, which a branch cannot run. They are left out; each is
	// named.
	HooksDropped Code = "hooks-dropped"
	// HooksTranslated: a chart has hooks, which got the annotations of Argo CD
	// (`spec.publish.hooks: argocd`).
	HooksTranslated Code = "hooks-translated"
	// ReplicasDiffer: values of some clusters render other replicas than those of the
	// template, which are divided.
	ReplicasDiffer Code = "replicas-differ"
	// ChartNotLocked: a chart is named by a range or a moving tag and is not in
	// `waybill.lock`: run `waybill update`.
	ChartNotLocked Code = "chart-not-locked"
	// ChartFloating: the same, in a report: the newest chart that fits was taken, and may be
	// another one tomorrow.
	ChartFloating Code = "chart-floating"
	// ChartUnavailable: a chart cannot be fetched, or is not the one of the lock.
	ChartUnavailable Code = "chart-unavailable"
	// BadLock: `waybill.lock` cannot be read, or is a link: write it anew with `waybill
	// update`.
	BadLock Code = "bad-lock"
)

// The codes of policies and clusters.
const (
	// UnknownKind: a kind of Karmada's or Waybill's groups that neither has.
	UnknownKind Code = "unknown-kind"
	// UnknownField: a field that the kind does not have.
	UnknownField Code = "unknown-field"
	// DuplicateField: a field stands twice.
	DuplicateField Code = "duplicate-field"
	// WrongType: a value is of another type than the field.
	WrongType Code = "wrong-type"
	// RequiredField: a field that must be there is not.
	RequiredField Code = "required-field"
	// InvalidValue: a value is not valid for the field.
	InvalidValue Code = "invalid-value"
	// UnsupportedValue: a value is none of those that the field may have.
	UnsupportedValue Code = "unsupported-value"
	// ConflictingFields: two fields exclude each other.
	ConflictingFields Code = "conflicting-fields"
	// DuplicateValue: a value that must be unique stands twice.
	DuplicateValue Code = "duplicate-value"
	// TooManyOverriders: an override policy has more than 50,000 overriders, of which an
	// operation of a `fieldOverrider` is one, or more than 10,000 rules.
	TooManyOverriders Code = "too-many-overriders"
	// UnknownAction: an action that nobody knows.
	UnknownAction Code = "unknown-action"
	// KindNotActing: the object is valid, but this version does not act on it.
	KindNotActing Code = "kind-not-acting"
	// NotAPolicy: the object, or its status, is what Karmada or KubeFleet computes, not what people write.
	NotAPolicy Code = "not-a-policy"
	// CustomizedTwice: two customizations teach one operation of a kind. The first by name
	// counts.
	CustomizedTwice Code = "customized-twice"
	// MissingOverride: a policy depends on an override policy that is not in the source. What
	// it claims is placed by no other; what it placed stays.
	MissingOverride Code = "missing-override"
	// BadPlacement: a placement that cannot be compiled. What the policy placed stays.
	BadPlacement Code = "bad-placement"
	// BadStrategy: a strategy for roll-outs has a mistake. What is bound to it stays as it is (see
	// [rollouts.md](rollouts.md)).
	BadStrategy Code = "bad-strategy"
	// BadSubscription: an ImageRepository, ImagePolicy or ImageUpdateAutomation has a mistake, or asks for what is refused.
	// Nothing is updated by it; the others go on (see [updates.md](updates.md)).
	BadSubscription Code = "bad-subscription"
	// SubscriptionIgnored: a field of one of these kinds has no meaning here, and is passed over.
	SubscriptionIgnored Code = "subscription-ignored"
	// MovingTag: an ImagePolicy lets one tag pass, so that it never finds a newer version.
	MovingTag Code = "moving-tag"
	// BadMarker: a marker of an image names no policy, or two, or stands on a value that is no image. No value of
	// the policy is written.
	BadMarker Code = "bad-marker"
	// MarkerNotEditable: a marker of an image stands where its value cannot be written without touching anything
	// else. No value of the policy is written.
	MarkerNotEditable Code = "marker-not-editable"
	// RolloutOverlap: two stages of a strategy select one cluster. The later one has it.
	RolloutOverlap Code = "rollout-overlap"
	// RolloutUnmatched: no stage of a strategy selects a cluster. It comes last, or no run starts.
	RolloutUnmatched Code = "rollout-unmatched"
	// RolloutUnsorted: a cluster has no integer in the label that its stage is sorted by. It comes last in
	// the stage.
	RolloutUnsorted Code = "rollout-unsorted"
	// RolloutUnknown: a policy or `waybill.yaml` names a strategy that is not in the source. What it binds
	// stays as it is.
	RolloutUnknown Code = "rollout-unknown"
	// RolloutGroup: the policies of a `waybill.dev/rollout-group` are bound to different strategies, or the group
	// has no name that can be one. What they claim stays as it is.
	RolloutGroup Code = "rollout-group"
	// RolloutRestless: a policy binds a release to a strategy that may call functions of time: it would be another one at each
	// plan. What the unit has stays as it is.
	RolloutRestless Code = "rollout-restless"
)

// The codes of traps: what Karmada accepts and does not do.
const (
	// CapacityIgnored: affinity groups with replicas that never lack room: a full group does
	// not lead to the next.
	CapacityIgnored Code = "capacity-ignored"
	// ChangesNothing: an overrider or a script list that changes nothing.
	ChangesNothing Code = "changes-nothing"
	// DeprecatedField: a field that is read, but has a successor.
	DeprecatedField Code = "deprecated-field"
	// EmptyWeights: `weightPreference: {}` weighs every cluster alike.
	EmptyWeights Code = "empty-weights"
	// ExcludedCluster: a cluster is both named and excluded.
	ExcludedCluster Code = "excluded-cluster"
	// ImageValue: an image overrider whose value does something else than it seems to.
	ImageValue Code = "image-value"
	// ImplicitDivided: `replicaScheduling` without a type means Divided.
	ImplicitDivided Code = "implicit-divided"
	// MatchesNothing: a condition, effect or name that no cluster has.
	MatchesNothing Code = "matches-nothing"
	// MissingFunction: a script of a ResourceInterpreterCustomization does not define the
	// function that is called.
	MissingFunction Code = "missing-function"
	// OldPurgeMode: `Immediately` and `Graciously` are spelled `Directly` and `Gracefully`
	// now.
	OldPurgeMode Code = "old-purge-mode"
	// OtherScheduler: the policy names another scheduler than Karmada's.
	OtherScheduler Code = "other-scheduler"
	// PatchPath: a plaintext overrider whose path is no JSON pointer, or any path that means
	// the whole document.
	PatchPath Code = "patch-path"
	// PatchWithoutValue: a plaintext overrider that adds or replaces without a value, which
	// writes null.
	PatchWithoutValue Code = "patch-without-value"
	// RegistryAdd: `add` appends to a registry that is there already.
	RegistryAdd Code = "registry-add"
	// SpreadIdle: a spread constraint by zone, provider or label, which Karmada ignores.
	SpreadIdle Code = "spread-idle"
	// SpreadIgnored: spread constraints do nothing beside fixed weights.
	SpreadIgnored Code = "spread-ignored"
	// SpreadSelectsNone: `maxGroups: 0` selects no cluster.
	SpreadSelectsNone Code = "spread-selects-none"
	// UncheckedValue: a value that is wrong where Karmada does not look: it takes the policy,
	// and the value acts as the message says. What cannot be read at all in a selector is an
	// error.
	UncheckedValue Code = "unchecked-value"
	// NotKarmadas: a policy selects by what Karmada does not have: any kind, or paths of the source.
	NotKarmadas Code = "not-karmadas"
	// UnusedField: a field that nothing reads.
	UnusedField Code = "unused-field"
)

// The codes of a plan.
const (
	// SelectsNothing: a policy selects no object of the source, or no policy selects a MultiClusterIngress.
	SelectsNothing Code = "selects-nothing"
	// SelectorSelectsNothing: one of a policy's selectors selects no object of the source.
	SelectorSelectsNothing Code = "selector-selects-nothing"
	// Shadowed: a policy claims nothing, because others win all that it selects, or a release
	// renders it.
	Shadowed Code = "shadowed"
	// UnknownCluster: a policy names a cluster that is not registered.
	UnknownCluster Code = "unknown-cluster"
	// UnknownLabel: a policy selects clusters by a label, or a value of a label or a field, that no
	// cluster has.
	UnknownLabel Code = "unknown-label"
	// OverridesNowhere: a rule of an override policy is for clusters to which none of its objects
	// goes.
	OverridesNowhere Code = "overrides-nowhere"
	// TaintNotFollowed: a cluster has a taint of effect NoExecute, and what does not tolerate it
	// stays there, because failover is off (see [failover.md](failover.md)).
	TaintNotFollowed Code = "taint-not-followed"
	// VersionMismatch: a selector misses an object only by the version of its apiVersion.
	VersionMismatch Code = "version-mismatch"
	// NeverPropagated: an object is not delivered although a policy selects it, or a Namespace
	// although something needs it: the message says why.
	NeverPropagated Code = "never-propagated"
	// StateUnreadable: a file of the state branch cannot be read. What its binding was of
	// stays as it was last published; the next publication goes on from there.
	StateUnreadable Code = "state-unreadable"
	// Exported: an object was exported from a server. What that server set there, such as a
	// Service's `clusterIP`, is left out.
	Exported Code = "exported"
	// ClaimMoved: another policy claims an object than before. Karmada would have kept the
	// first.
	ClaimMoved Code = "claim-moved"
	// Unschedulable: a policy cannot place an object. For lack of room it stays; where no
	// cluster fits it leaves.
	Unschedulable Code = "unschedulable"
	// Interpret: the replicas of an object cannot be read. It stays as it was.
	Interpret Code = "interpret"
	// Dependencies: what an object depends on cannot be told. What it pulled along before goes
	// along with it.
	Dependencies Code = "dependencies"
	// Replicas: the replicas of an object cannot be set. It stays as it was.
	Replicas Code = "replicas"
	// OverrideFailed: an override cannot be applied in some clusters, or all that apply to the
	// object do too much to it, as a thousand `fieldOverrider`s to one long text do. There the
	// object stays as it was.
	OverrideFailed Code = "override-failed"
	// Waits: part of a template cannot be carried out, because an override fails, its release
	// cannot be rendered, or dispatching is suspended. The rest would leave it nowhere, in two
	// places, or with fewer replicas than it asks for, so that it stays as it is everywhere.
	Waits Code = "waits"
	// WaitsForHeld: objects would move, or shift replicas, to or from clusters that are held.
	// They stay as they are everywhere.
	WaitsForHeld Code = "waits-for-held"
	// Sealed: an override would change a document that SOPS encrypted.
	Sealed Code = "sealed"
	// BadRecipients: `waybill.dev/age-recipients` on a Cluster names something that is no age
	// recipient.
	BadRecipients Code = "bad-recipients"
	// PlainSecret: a plain Secret, which a branch would show to everybody who can read it, or
	// one of which SOPS encrypted only a part. A field that no Secret has counts as a value.
	PlainSecret Code = "plain-secret"
	// BadFlux: an annotation of a Cluster says of Flux what cannot be followed. `publish.flux`
	// counts instead.
	BadFlux Code = "bad-flux"
	// FluxFolder: a branch with a folder for each namespace gains one, which nothing syncs
	// until its Kustomization is applied.
	FluxFolder Code = "flux-folder"
	// NotDecrypted: a branch that Argo CD syncs (`publish.hooks: argocd`) holds documents of
	// SOPS, which it does not decrypt.
	NotDecrypted Code = "not-decrypted"
	// Suspended: a policy suspends dispatching to some clusters. There the object stays as it
	// was.
	Suspended Code = "suspended"
	// BadVirtual: the annotations of a virtual Cluster name a host that is not registered, or
	// virtual itself, or the suffix of another Cluster on that API server. Nothing changes in
	// what it holds (see [virtual-clusters.md](virtual-clusters.md)).
	BadVirtual Code = "bad-virtual"
	// Unmapped: an object cannot be put into a virtual cluster, because the name of its
	// namespace becomes too long, or belongs to the whole API server, or because it asks for
	// other nodes than the virtual cluster has. There it stays as it was.
	Unmapped Code = "unmapped"
	// NamespaceClash: namespaces of two clusters would be one on the API server that they
	// share. What is in them stays as it was.
	NamespaceClash Code = "namespace-clash"
	// NotShared: virtual clusters of one API server, or one of them and its host, want one
	// cluster-scoped object in two forms. It stays as it was.
	NotShared Code = "not-shared"
	// ServiceText: free text names a Service of a virtual cluster by its namespace, which has
	// another name there, and nothing rewrites text.
	ServiceText Code = "service-text"
	// NamespaceMissing: something is sent to a namespace of a virtual cluster, and no Namespace
	// with it: a virtual cluster has none of its own.
	NamespaceMissing Code = "namespace-missing"
	// FailoverFrozen: something should leave a cluster, and so many clusters are not ready that
	// nothing moves (see [failover.md](failover.md)).
	FailoverFrozen Code = "failover-frozen"
	// NowhereElse: something should leave a cluster, and stays: no other cluster takes it.
	NowhereElse Code = "nowhere-else"
	// NoRoomElsewhere: replicas find no node in their cluster, and stay there: no other has room
	// for them (see [failover.md](failover.md#replicas-that-find-no-node)).
	NoRoomElsewhere Code = "no-room-elsewhere"
	// LastCopy: something left a cluster, and its old copy stays: no other is healthy.
	LastCopy Code = "last-copy"
	// MoveWaits: something leaves a cluster for others, and stays there until these have it
	// (see [failover.md](failover.md#moves)).
	MoveWaits Code = "move-waits"
	// HoldsData: a Namespace, a CustomResourceDefinition, a PersistentVolume or a claim, or a StatefulSet
	// with `whenDeleted: Delete`, failed over from a cluster and stays there: data would be deleted with it
	// (see [failover.md](failover.md)).
	HoldsData Code = "holds-data"
	// StatusNotRead: something should leave a cluster, and stays: what its policy preserves of
	// its status there cannot be read.
	StatusNotRead Code = "status-not-read"
	// HealthUnknown: a policy has what is not healthy fail over, and no cluster says what is.
	HealthUnknown Code = "health-unknown"
	// QuotaExceeded: a FederatedResourceQuota does not allow what an object asks for. It stays
	// as it was.
	QuotaExceeded Code = "quota-exceeded"
	// ScalesNothing: a CronFederatedHPA or a FederatedHPA names no template of the source, or one that no policy places.
	ScalesNothing Code = "scales-nothing"
	// ScalesTwice: a FederatedHPA scales what something else scales, too.
	ScalesTwice Code = "scales-twice"
	// NotScalable: a FederatedHPA scales what has no `spec.replicas`, such as a DaemonSet.
	NotScalable Code = "not-scalable"
	// RulePassedOver: a rule of a CronFederatedHPA would put the least of a FederatedHPA above its most, and counts for nothing.
	RulePassedOver Code = "rule-passed-over"
	// HPAFloor: a FederatedHPA asks for a smaller least than it has clusters: each has at least 1.
	HPAFloor Code = "hpa-floor"
	// HPANoSeat: a FederatedHPA allows fewer replicas than there are clusters: some get nothing.
	HPANoSeat Code = "hpa-no-seat"
	// HPAHandover: who decides how many replicas there are changes hands between Git and a HorizontalPodAutoscaler of a
	// FederatedHPA (see [autoscaling.md](autoscaling.md)).
	HPAHandover Code = "hpa-handover"
	// NoService: a MultiClusterService or a ServiceExport names a Service that is no template of the source, or is not delivered to where the
	// export is (see [services.md](services.md)).
	NoService Code = "no-service"
	// NoExport: a ServiceImport imports a Service that no ServiceExport exports: the Service that is derived from it has no endpoints.
	NoExport Code = "no-export"
	// NoSuchPort: a MultiClusterService exposes a port that its Service does not have. What was published stays.
	NoSuchPort Code = "no-such-port"
	// InvalidServiceType: a Service of type ExternalName is exported, and has no endpoints.
	InvalidServiceType Code = "invalid-service-type"
	// ExportConflict: clusters export one Service, and it is not the same in all of them. The message has the reason by which the
	// Multi-Cluster Services API knows it, and both values.
	ExportConflict Code = "export-conflict"
	// IngressBackend: a MultiClusterIngress, or a route of the Gateway API, sends traffic to a Service that a cluster does not have. What was
	// published there stays (see [services.md](services.md)).
	IngressBackend Code = "ingress-backend"
	// IngressPort: the Service is there, and has no such port. What was published stays.
	IngressPort Code = "ingress-port"
	// SameHostname: pods of a StatefulSet that several clusters export have one name.
	SameHostname Code = "same-hostname"
	// EndpointsLeftOut: services are exported to other clusters, and Waybill does not deliver their endpoints to all of these (see
	// [services.md](services.md)).
	EndpointsLeftOut Code = "endpoints-left-out"
	// BadScript: a script of a ResourceInterpreterCustomization does not compile, does not
	// define its function, or is too long (see [scripts.md](scripts.md)); or a health script for Argo CD
	// does not compile, or stands at a key that is none of Argo CD's.
	BadScript Code = "bad-script"
	// NoHealthScripts: `spec.health.argocdConfigMap` names a ConfigMap that the source does not have.
	NoHealthScripts Code = "no-health-scripts"
	// SecretScript: a ResourceInterpreterCustomization is about Secrets, of which no script is
	// told.
	SecretScript Code = "secret-script"
	// BadSchedule: a schedule that never comes about, or cannot be read.
	BadSchedule Code = "bad-schedule"
	// RebalancesNothing: a WorkloadRebalancer names an object that is no template of the
	// source.
	RebalancesNothing Code = "rebalances-nothing"
	// ClusterDetached: a cluster that is no longer registered keeps its branch.
	ClusterDetached Code = "cluster-detached"
	// ClustersMoved: clusters go to other branches or folders, because the layout changes.
	ClustersMoved Code = "clusters-moved"
	// LeftBehind: clusters are published elsewhere than before, and the branches of before are still there.
	LeftBehind Code = "left-behind"
	// ForeignFiles: a branch or a folder of a cluster holds files that Waybill did not write. They stay.
	ForeignFiles Code = "foreign-files"
	// HistoryMissing: the commit in which what is broken now was sound last is not in a
	// shallow clone, and cannot be had from where it was made. What it is about is held.
	HistoryMissing Code = "history-missing"
	// RolloutStopped: a staged roll-out stopped, goes back or went back: too many clusters failed, no
	// cluster of a stage was healthy in time, or somebody said so. Nothing more is released.
	RolloutStopped Code = "rollout-stopped"
	// RolloutHeld: a change begins to go out in stages, and the guard would hold a cluster when its turn
	// comes.
	RolloutHeld Code = "rollout-held"
	// RolloutLate: a cluster does not answer while a change goes out in stages. Nobody waits for it;
	// it is released by the same strategy when it answers again.
	RolloutLate Code = "rollout-late"
	// RolloutStarved: newer versions replaced a staged roll-out again and again before it was done.
	RolloutStarved Code = "rollout-starved"
	// RolloutNoEvidence: nothing ever said how healthy a cluster is, so that the stage that it is in
	// cannot end.
	RolloutNoEvidence Code = "rollout-no-evidence"
	// RolloutStatusIgnored: a commit status that speaks of a cluster does not count, because whoever set it is not named as
	// one who may.
	RolloutStatusIgnored Code = "rollout-status-ignored"
	// RolloutNotAsked: the forge did not say which commit statuses there are, so that nothing is known of how healthy
	// clusters are.
	RolloutNotAsked Code = "rollout-not-asked"
	// RolloutUnwatched: nobody can tell whether a cluster answers, so that what was said of it last
	// counts however old it is.
	RolloutUnwatched Code = "rollout-unwatched"
	// RolloutStaleCommand: a command was about another run of a staged roll-out, or about a stage that
	// is not waiting for it. It did nothing, and will not.
	RolloutStaleCommand Code = "rollout-stale-command"
	// RolloutCommandRefused: a command about a staged roll-out does not count: it is not signed by somebody who
	// may, an author approves what is its own, or it is no command at all. It does nothing.
	RolloutCommandRefused Code = "rollout-command-refused"
	// RolloutUnsoaked: a cluster took over what another one lost, and got the new version before its
	// turn, because the old one cannot be read.
	RolloutUnsoaked Code = "rollout-unsoaked"
	// RolloutLost: clusters have a new version, and nothing is recorded of its run. They count as
	// released; the other clusters begin at the first stage.
	RolloutLost Code = "rollout-lost"
	// RolloutUnreadable: the commit whose version a run carries out cannot be read: it is not in the clone, or a file of it is broken.
	// Clusters that wait for it get nothing; what others have stays.
	RolloutUnreadable Code = "rollout-unreadable"
	// RolloutClock: the clock is behind the times that were recorded of a staged roll-out. Until it
	// has caught up no time passes for it.
	RolloutClock Code = "rollout-clock"
	// Held: the guard holds a cluster: nothing is published to it until somebody allows it.
	Held Code = "held"
	// Released: the guard held a cluster, and it was allowed.
	Released Code = "released"
)
