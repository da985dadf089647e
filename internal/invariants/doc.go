// Package invariants is the switch for costly self-checks. Enabled is a constant, so that a disabled check costs nothing:
// the compiler drops the branch. It is true in race builds and under the build tag "invariants".
package invariants
