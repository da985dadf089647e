// Package slow answers questions with berth's internal reference: the same rules as plain loops. It is there to show that
// the reference, which berth's fast code is tested against day by day without kube-scheduler, is right.
package slow
