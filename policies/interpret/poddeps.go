package interpret

import corev1 "k8s.io/api/core/v1"

// references collects the core objects of one namespace that a pod refers to.
type references struct {
	namespace string
	found     []Dependency
	seen      map[Dependency]bool
}

// add notes a reference unless it is empty or known.
func (r *references) add(kind, name string) {
	d := Dependency{APIVersion: "v1", Kind: kind, Namespace: r.namespace, Name: name}
	if name == "" || r.seen[d] {
		return
	}
	r.seen[d] = true
	r.found = append(r.found, d)
}

func (r *references) configMap(name string) { r.add("ConfigMap", name) }

func (r *references) secret(name string) { r.add("Secret", name) }

func (r *references) local(s *corev1.LocalObjectReference) {
	if s != nil {
		r.secret(s.Name)
	}
}

func (r *references) pod(spec *corev1.PodSpec) {
	if name := spec.ServiceAccountName; name != "default" {
		r.add("ServiceAccount", name)
	}
	for _, s := range spec.ImagePullSecrets {
		r.secret(s.Name)
	}
	for _, c := range spec.Containers {
		r.container(c.Env, c.EnvFrom)
	}
	for _, c := range spec.InitContainers {
		r.container(c.Env, c.EnvFrom)
	}
	for _, c := range spec.EphemeralContainers {
		r.container(c.Env, c.EnvFrom)
	}
	for _, v := range spec.Volumes {
		r.volume(&v.VolumeSource)
		r.driver(&v.VolumeSource)
	}
}

func (r *references) container(env []corev1.EnvVar, from []corev1.EnvFromSource) {
	for _, e := range env {
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
			r.configMap(ref.Name)
		}
		if ref := e.ValueFrom.SecretKeyRef; ref != nil {
			r.secret(ref.Name)
		}
	}
	for _, f := range from {
		if f.ConfigMapRef != nil {
			r.configMap(f.ConfigMapRef.Name)
		}
		if f.SecretRef != nil {
			r.secret(f.SecretRef.Name)
		}
	}
}

// volume notes what a volume is made of.
func (r *references) volume(v *corev1.VolumeSource) {
	if v.ConfigMap != nil {
		r.configMap(v.ConfigMap.Name)
	}
	if v.Secret != nil {
		r.secret(v.Secret.SecretName)
	}
	if v.PersistentVolumeClaim != nil {
		r.add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName)
	}
	if v.Projected == nil {
		return
	}
	for _, s := range v.Projected.Sources {
		if s.ConfigMap != nil {
			r.configMap(s.ConfigMap.Name)
		}
		if s.Secret != nil {
			r.secret(s.Secret.Name)
		}
	}
}

// driver notes the Secret by which a volume's driver logs in.
func (r *references) driver(v *corev1.VolumeSource) {
	switch {
	case v.AzureFile != nil:
		r.secret(v.AzureFile.SecretName)
	case v.CephFS != nil:
		r.local(v.CephFS.SecretRef)
	case v.Cinder != nil:
		r.local(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		r.local(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		r.local(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		r.local(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		r.local(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		r.local(v.StorageOS.SecretRef)
	case v.CSI != nil:
		r.local(v.CSI.NodePublishSecretRef)
	}
}
