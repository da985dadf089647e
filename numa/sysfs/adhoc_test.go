package sysfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-go/berth/internal/tartree"
	"github.com/berth-go/berth/numa"
)

func TestAdhoc(t *testing.T) {
	files, _ := filepath.Glob("/work/shared/data/numa/*/linux/*.tar.bz2")
	for _, g := range []string{"/work/shared/data/numa/ghw/*.gz", "/work/shared/data/numa/nri-plugins/*.bz2"} {
		f, _ := filepath.Glob(g)
		files = append(files, f...)
	}
	for _, f := range files {
		tree, err := tartree.Open(os.DirFS(filepath.Dir(f)), filepath.Base(f))
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
			if d.IsDir() && (strings.HasSuffix(p, "sys/devices/system/cpu")) {
				root, _ := fs.Sub(tree, strings.TrimSuffix(strings.TrimSuffix(p, "sys/devices/system/cpu"), "/"))
				if root == nil {
					root = tree
				}
				m, err := Read(root)
				if err != nil {
					fmt.Println(f, err)
					return nil
				}
				cp, no, err := Allowed(root, m)
				if err != nil {
					fmt.Println(f, err)
				}
				c := counts(m)
				r := &numa.Machine{}
				for _, c := range m.CPUs {
					if cp.Has(c.ID) {
						r.CPUs = append(r.CPUs, c)
					}
				}
				for _, c := range m.Nodes {
					if no.Has(c.ID) {
						r.Nodes = append(r.Nodes, c)
					}
				}
				if counts(r) != c {
					fmt.Println("   restricted", counts(r))
				}
				_, err = numa.Compile(m)
				fmt.Printf("%-50s %v dev=%d err=%v\n", filepath.Base(f), c, len(m.Devices), err)
			}
			return nil
		})
	}
}

func counts(m *numa.Machine) [4]int {
	p, c := map[int]bool{}, map[int]bool{}
	for _, cpu := range m.CPUs {
		p[cpu.Package] = true
		c[cpu.Core] = true
	}
	return [4]int{len(p), len(m.Nodes), len(c), len(m.CPUs)}
}
