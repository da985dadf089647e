package tartree

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Tree is a read-only tree in memory. It follows symbolic links inside the tree and implements fs.ReadDirFS, fs.SubFS being
// left to fs.Sub, and fs.ReadLinkFS. Opening takes O(depth + links) steps.
type Tree struct {
	entries map[string]*entry
}

type entry struct {
	name     string
	data     []byte
	link     string
	children map[string]*entry // nil if not a directory
}

// Open reads the archive called name in fsys, .tar.bz2 or .tar.gz, into memory. What is neither a regular file nor a
// symbolic link nor a directory is left out.
func Open(fsys fs.FS, name string) (*Tree, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var r io.Reader = bytes.NewReader(data)
	switch {
	case strings.HasSuffix(name, ".bz2"):
		r = bzip2.NewReader(r)
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("tartree: %s: %w", name, err)
		}
	default:
		return nil, fmt.Errorf("tartree: %s: is neither .bz2 nor .gz", name)
	}
	tree := &Tree{entries: map[string]*entry{".": {name: ".", children: map[string]*entry{}}}}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return tree, nil
		}
		if err != nil {
			return nil, fmt.Errorf("tartree: %s: %w", name, err)
		}
		if err := tree.add(h, t); err != nil {
			return nil, fmt.Errorf("tartree: %s: %s: %w", name, h.Name, err)
		}
	}
}

func (t *Tree) add(h *tar.Header, content io.Reader) error {
	name := path.Clean(strings.TrimPrefix(h.Name, "/"))
	switch h.Typeflag {
	case tar.TypeReg:
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		t.put(name, &entry{data: data})
	case tar.TypeSymlink:
		t.put(name, &entry{link: h.Linkname})
	case tar.TypeDir:
		t.dir(name)
	}
	return nil
}

func (t *Tree) put(name string, e *entry) {
	e.name = path.Base(name)
	t.dir(path.Dir(name)).children[e.name] = e
	t.entries[name] = e
}

// dir finds or makes a directory. A file in its place is replaced: archives may list both.
func (t *Tree) dir(name string) *entry {
	if e, ok := t.entries[name]; ok && e.children != nil {
		return e
	}
	e := &entry{children: map[string]*entry{}}
	if name == "/" || name == ".." {
		name = "."
	}
	if name == "." {
		return t.entries["."]
	}
	t.put(name, e)
	return e
}

const maxLinks = 40

// resolve follows the links on the way to name, the last one only if asked.
func (t *Tree) resolve(name string, last bool) (*entry, error) {
	links := 0
	done, rest := ".", name
	for rest != "" && rest != "." {
		part, after, more := strings.Cut(rest, "/")
		at := path.Join(done, part)
		e, ok := t.entries[at]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if e.link == "" || !more && !last {
			done, rest = at, after
			continue
		}
		if links++; links > maxLinks {
			return nil, fs.ErrInvalid
		}
		target := e.link
		if !path.IsAbs(target) {
			target = path.Join(done, target)
		}
		target = path.Join("/", target)[1:] // never above the root
		done, rest = ".", path.Join(target, after)
	}
	return t.entries[done], nil
}

// Open opens a file or directory.
func (t *Tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	e, err := t.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &file{info: info{e, path.Base(name)}}
	f.Reader.Reset(e.data)
	return f, nil
}

// ReadDir lists a directory in the order of names.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.resolve(name, true)
	if err == nil && e.children == nil {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	var list []fs.DirEntry
	for _, child := range slices.Sorted(maps.Keys(e.children)) {
		list = append(list, info{e.children[child], child})
	}
	return list, nil
}

// ReadLink returns where a symbolic link points.
func (t *Tree) ReadLink(name string) (string, error) {
	e, err := t.resolve(name, false)
	if err == nil && e.link == "" {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return e.link, nil
}

// Lstat describes a file without following it.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) {
	e, err := t.resolve(name, false)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info{e, path.Base(name)}, nil
}

type file struct {
	bytes.Reader
	info info
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

func (f *file) Read(b []byte) (int, error) {
	if f.info.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrInvalid}
	}
	return f.Reader.Read(b)
}

// info is both fs.FileInfo and fs.DirEntry.
type info struct {
	e    *entry
	name string
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return int64(len(i.e.data)) }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) IsDir() bool                { return i.e.children != nil }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }

func (i info) Mode() fs.FileMode {
	switch {
	case i.IsDir():
		return fs.ModeDir | 0o555
	case i.e.link != "":
		return fs.ModeSymlink | 0o777
	}
	return 0o444
}
