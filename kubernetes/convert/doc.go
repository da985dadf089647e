// Package convert turns Kubernetes API objects into berth's and back.
package convert

import (
	_ "github.com/berth-go/berth"
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/api/policy/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/listers/core/v1"
	_ "k8s.io/component-helpers/resource"
)
