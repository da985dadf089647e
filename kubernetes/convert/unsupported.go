package convert

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
)

// kubernetesVersion is the release whose scheduler the conversion follows.
const kubernetesVersion = "1.37.2"

// reportUnsupported reports every field of the pod that kube-scheduler minds and berth has no words for.
func reportUnsupported(p *v1.Pod, r *report) {
	for i := range p.Spec.Volumes {
		reportVolume(&p.Spec.Volumes[i], i, r)
	}
	for i := range p.Spec.ResourceClaims {
		r.unsupported(p.Spec.ResourceClaims[i].Name, "DRA claims", "spec.resourceClaims[%d]", i)
	}
	for i := range p.Spec.SchedulingGates {
		r.unsupported(p.Spec.SchedulingGates[i].Name, "the pod must not be placed before the gate is lifted", "spec.schedulingGates[%d]", i)
	}
	if p.Spec.SchedulingGroup != nil {
		name := ""
		if p.Spec.SchedulingGroup.PodGroupName != nil {
			name = *p.Spec.SchedulingGroup.PodGroupName
		}
		r.unsupported(name, "pods of a group are to be placed together", "spec.schedulingGroup")
	}
	for i, t := range p.Spec.Tolerations {
		if comparing(&t) {
			r.unsupported(string(t.Operator), "comparing tolerations are an alpha feature, off by default", "spec.tolerations[%d].operator", i)
		}
	}
	if ended(p) {
		r.unsupported(string(p.Status.Phase), "a pod that ended holds nothing and should be left out", "status.phase")
	}
	reportFeatures(p, r)
}

// reportVolume reports a volume that may tie the pod to nodes: the kinds that the plugins VolumeBinding, VolumeZone,
// NodeVolumeLimits and VolumeRestrictions look at.
func reportVolume(v *v1.Volume, i int, r *report) {
	for _, kind := range []struct {
		name string
		set  bool
	}{
		{"persistentVolumeClaim", v.PersistentVolumeClaim != nil},
		{"ephemeral", v.Ephemeral != nil},
		{"csi", v.CSI != nil},
		{"gcePersistentDisk", v.GCEPersistentDisk != nil},
		{"awsElasticBlockStore", v.AWSElasticBlockStore != nil},
		{"azureDisk", v.AzureDisk != nil},
		{"azureFile", v.AzureFile != nil},
		{"cinder", v.Cinder != nil},
		{"vsphereVolume", v.VsphereVolume != nil},
		{"portworxVolume", v.PortworxVolume != nil},
		{"iscsi", v.ISCSI != nil},
		{"rbd", v.RBD != nil},
	} {
		if kind.set {
			r.unsupported(v.Name, "the volume may tie the pod to nodes", "spec.volumes[%d].%s", i, kind.name)
		}
	}
}

// reportFeatures reports what the pod needs a node to declare (the plugin NodeDeclaredFeatures).
func reportFeatures(p *v1.Pod, r *report) {
	features := nodedeclaredfeatures.DefaultFramework
	needed, err := features.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &p.Spec}, version.MustParseGeneric(kubernetesVersion))
	if err != nil {
		r.invalid("", err.Error(), "spec")
		return
	}
	if needed.IsEmpty() {
		return
	}
	names, err := features.Unmap(needed)
	if err != nil {
		r.invalid("", err.Error(), "spec")
		return
	}
	r.unsupported(strings.Join(names, ","), "the pod needs features that a node must declare", "spec")
}

// ended says whether all of the pod's containers have stopped for good.
func ended(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}
