package berth_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/berth-go/berth"

// mayImport says what each package may import besides the standard library: of this module by directory (berth is the root),
// of others by module path. It is the order of the house: berth, heap < topology, numa < affinity < cache < score < benchmarks.
// A new package needs a line here. A line that has to grow is a decision, not a fix of a failing test.
const mayImport = `
	internal/invariants:
	internal/ledger:       berth
	internal/hashtable:
	berth:
	heap:                  internal/invariants
	topology:              berth heap internal/invariants github.com/google/btree
	numa:                  berth heap internal/invariants
	numa/sysfs:            numa
	numa/hwloc:            numa
	numa/nccl:             numa
	numa/nvidiasmi:        numa
	numa/ring:             internal/invariants
	numa/runqueue:         numa internal/invariants
	affinity:              berth heap internal/hashtable internal/invariants internal/ledger topology numa github.com/google/btree gonum.org/v1/gonum
	cache:                 berth heap internal/hashtable internal/invariants internal/canonical internal/ledger topology numa affinity github.com/google/btree golang.org/x/sync
	cache/eventlog:        berth cache internal/canonical
	score:                 berth heap internal/invariants topology numa affinity cache golang.org/x/sync
	score/scoretest:       berth affinity topology score
	score/policy:          berth topology affinity score
	score/explain:         berth topology affinity score
	score/strategy:        berth topology numa affinity score

	internal/reference:     berth
	internal/reference/gpu: berth
	internal/canonical:     berth
	internal/gen:           berth internal/reference
	internal/openb:         berth
	internal/tartree:

	benchmarks:            berth heap topology numa affinity cache score internal/gen internal/openb internal/reference/gpu golang.org/x/sync gonum.org/v1/gonum
	benchmarks/compare:    berth heap topology numa affinity cache score internal/gen internal/openb internal/reference/gpu golang.org/x/sync gonum.org/v1/gonum benchmarks
`

// testsMayImport is what the tests of any package may import besides what the package may, and besides this module: nobody
// who uses the library compiles them.
const testsMayImport = "github.com/stretchr/testify github.com/google/btree gonum.org/v1/gonum golang.org/x/sync"

// impure are the packages of the standard library that a library package does without: it neither reads nor writes the
// world, has no clock of its own, and takes its randomness from the caller.
const impure = "os os/exec os/signal net net/http log log/slog syscall unsafe plugin math/rand crypto/rand C"

// isLibrary is false for what users do not import.
func isLibrary(dir string) bool {
	return !strings.HasPrefix(dir, "internal/") && !strings.HasPrefix(dir, "benchmarks")
}

func TestImports(t *testing.T) {
	allowed := make(map[string][]string)
	for line := range strings.Lines(mayImport) {
		if dir, list, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			allowed[dir] = strings.Fields(list)
		}
	}
	seen := 0
	for file := range goFiles(t) {
		seen++
		dir := ours(path.Dir(file))
		list, known := allowed[dir]
		if !known {
			t.Errorf("%s: package %s is not listed in mayImport", file, dir)
			continue
		}
		for _, imported := range importsOf(t, file) {
			if fault := importFault(dir, imported, list, strings.HasSuffix(file, "_test.go")); fault != "" {
				t.Errorf("%s: imports %s, %s", file, imported, fault)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// importFault returns what is wrong with an import of a file in dir, or "".
func importFault(dir, imported string, list []string, test bool) string {
	own, isOurs := strings.CutPrefix(imported, module)
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case isOurs && test:
		return ""
	case isOurs:
		if own = ours(strings.TrimPrefix(own, "/")); !slices.Contains(list, own) {
			return "which is not below " + dir
		}
	case !strings.Contains(first, "."): // the standard library
		if !test && isLibrary(dir) && slices.Contains(strings.Fields(impure), imported) {
			return "which a library package does without"
		}
	default:
		if test {
			list = append(slices.Clone(list), strings.Fields(testsMayImport)...)
		}
		if !slices.ContainsFunc(list, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
			return "which " + dir + " does not need"
		}
	}
	return ""
}

func ours(dir string) string {
	if dir == "." || dir == "" {
		return "berth"
	}
	return dir
}

// goFiles yields the module's files, whatever their build constraints, by slash-separated path from its root. Nested modules
// are not part of it.
func goFiles(t *testing.T) func(yield func(file string) bool) {
	return func(yield func(string) bool) {
		err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if file == "." {
					return nil
				}
				_, err := os.Stat(filepath.Join(file, "go.mod"))
				if err == nil || entry.Name() == "testdata" || strings.ContainsAny(entry.Name()[:1], "._") {
					return fs.SkipDir
				}
				return nil
			}
			if strings.HasSuffix(file, ".go") && !yield(filepath.ToSlash(file)) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func importsOf(t *testing.T, file string) []string {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}

// TestImportRulesRefuse keeps TestImports honest: it is worth nothing if it lets everything through.
func TestImportRulesRefuse(t *testing.T) {
	list := []string{"berth", "heap", "github.com/google/btree"}
	for _, test := range []struct {
		imported string
		test, ok bool
	}{
		{"slices", false, true},
		{"os", false, false},
		{"os", true, true},
		{module, false, true},
		{module + "/heap", false, true},
		{module + "/score", false, false},
		{module + "/score", true, true},
		{"github.com/google/btree", false, true},
		{"github.com/google/btrees", false, false},
		{"github.com/stretchr/testify/require", false, false},
		{"github.com/stretchr/testify/require", true, true},
		{"gonum.org/v1/gonum/stat", false, false},
		{"k8s.io/api/core/v1", false, false},
		{"k8s.io/api/core/v1", true, false},
	} {
		if fault := importFault("topology", test.imported, list, test.test); (fault == "") != test.ok {
			t.Errorf("%s (test %v): fault %q, want ok %v", test.imported, test.test, fault, test.ok)
		}
	}
}
