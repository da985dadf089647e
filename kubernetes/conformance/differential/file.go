package differential

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// File writes the script as YAML that [Read] reads, with lines of explanation at its head.
func (s *Script) File(path string, head []string) error {
	tree, err := s.tree()
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(tree)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, line := range head {
		fmt.Fprintf(&text, "# %s\n", strings.ReplaceAll(line, "\n", "\n# "))
	}
	text.Write(data)
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// Read reads a script from a file.
func Read(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Script
	if err := yaml.UnmarshalStrict(data, &s); err != nil {
		return nil, fmt.Errorf("differential: %s: %w", path, err)
	}
	return &s, nil
}
