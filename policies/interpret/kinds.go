package interpret

// The built-in kinds that have a meaning here.
var (
	pod                = kind{"v1", "Pod"}
	service            = kind{"v1", "Service"}
	secret             = kind{"v1", "Secret"}
	serviceAccount     = kind{"v1", "ServiceAccount"}
	volume             = kind{"v1", "PersistentVolume"}
	volumeClaim        = kind{"v1", "PersistentVolumeClaim"}
	deployment         = kind{"apps/v1", "Deployment"}
	replicaSet         = kind{"apps/v1", "ReplicaSet"}
	statefulSet        = kind{"apps/v1", "StatefulSet"}
	daemonSet          = kind{"apps/v1", "DaemonSet"}
	job                = kind{"batch/v1", "Job"}
	cronJob            = kind{"batch/v1", "CronJob"}
	autoscalerV1       = kind{"autoscaling/v1", "HorizontalPodAutoscaler"}
	autoscaler         = kind{"autoscaling/v2", "HorizontalPodAutoscaler"}
	disruptionBudget   = kind{"policy/v1", "PodDisruptionBudget"}
	ingress            = kind{"networking.k8s.io/v1", "Ingress"}
	networkPolicy      = kind{"networking.k8s.io/v1", "NetworkPolicy"}
	roleBinding        = kind{"rbac.authorization.k8s.io/v1", "RoleBinding"}
	clusterRoleBinding = kind{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"}
	storageClass       = kind{"storage.k8s.io/v1", "StorageClass"}
	serviceImport      = kind{"multicluster.x-k8s.io/v1alpha1", "ServiceImport"}
	gateway            = kind{"gateway.networking.k8s.io/v1", "Gateway"}
	gatewayBeta        = kind{"gateway.networking.k8s.io/v1beta1", "Gateway"}
	serviceImportBeta  = kind{"multicluster.x-k8s.io/v1beta1", "ServiceImport"}
)

// serviceAccountToken is the type of a Secret that a cluster fills in.
const serviceAccountToken = "kubernetes.io/service-account-token" //nolint:gosec // a type, no secret
