// Package kube asks the real kube-scheduler.
package kube

import (
	_ "github.com/berth-go/berth"
	_ "k8s.io/kubernetes/pkg/scheduler"
	_ "sigs.k8s.io/yaml"
)
