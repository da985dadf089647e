// Package schedulers names the schedulers that can be asked.
package schedulers

import (
	"fmt"

	"github.com/berth-go/berth/kubernetes/conformance"
	"github.com/berth-go/berth/kubernetes/conformance/fast"
	"github.com/berth-go/berth/kubernetes/conformance/kube"
	"github.com/berth-go/berth/kubernetes/conformance/slow"
)

// Names of the schedulers.
const (
	// Berth is what berth's users use.
	Berth = "berth"
	// Transactions is Berth inside of transactions, after others were rolled back.
	Transactions = "transactions"
	// Reference is what berth's tests hold it against.
	Reference = "reference"
	// Kube is kube-scheduler, the judge.
	Kube = "kube"
)

// Named returns what opens a scheduler of the name.
func Named(name string) (conformance.Open, error) {
	switch name {
	case Berth:
		return func(c *conformance.Cluster) (conformance.Scheduler, func(), error) {
			s, err := fast.New(c)
			return s, func() {}, err
		}, nil
	case Transactions:
		return func(c *conformance.Cluster) (conformance.Scheduler, func(), error) {
			s, err := fast.NewInTransactions(c)
			return s, func() {}, err
		}, nil
	case Reference:
		return func(c *conformance.Cluster) (conformance.Scheduler, func(), error) {
			s, err := slow.New(c)
			return s, func() {}, err
		}, nil
	case Kube:
		return func(c *conformance.Cluster) (conformance.Scheduler, func(), error) {
			s, err := kube.New(c)
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		}, nil
	}
	return nil, fmt.Errorf("schedulers: %q: must be %s, %s, %s or %s", name, Berth, Transactions, Reference, Kube)
}
