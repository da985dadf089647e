// Package scoretest holds the contract tests of package score's plugins, for those who write one.
//
// A test of a plugin hands a [Suite] a function that makes it:
//
//	func TestCheapest(t *testing.T) {
//		scoretest.Suite{}.Scorer(t, func() score.Scorer { return Cheapest{} })
//	}
//
// The suite asks the plugin about many pods on a small cluster, in the ways in which a pipeline may ask it, and reports what
// breaks the contract: scores out of range, elements written that are not the plugin's, memory that is kept, changes of what
// is only to be read, answers that differ from call to call or with how nodes are split, promises (score.Local,
// score.Concurrent) that are not kept, panics, and calls that go on after their context is done. What the plugin is for is
// left to tests of its own.
//
// Races of a score.Concurrent plugin are found for certain only under go test -race; without, if they spoil a score.
package scoretest
