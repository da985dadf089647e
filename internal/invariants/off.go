//go:build !race && !invariants

package invariants

// Enabled says that structures should check themselves after each change, whatever it costs.
const Enabled = false
