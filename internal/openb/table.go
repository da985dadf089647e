package openb

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table reads a CSV file whose first line names the columns. Columns are found by name, so their order is free and further
// ones do no harm. The first fault stops it and stays in err.
type table struct {
	file   string
	csv    *csv.Reader
	column map[string]int
	row    []string
	err    error
}

// newTable reads the header. required columns must be in it.
func newTable(file string, r io.Reader, required ...string) *table {
	t := &table{file: file, column: make(map[string]int)}
	plain, err := decompress(r)
	if err != nil {
		t.err = fmt.Errorf("openb: %s: %w", file, err)
		return t
	}
	t.csv = csv.NewReader(plain)
	t.csv.ReuseRecord = true
	if !t.next() {
		if t.err == nil {
			t.err = &SyntaxError{File: file, Line: 1, Column: 1, Detail: "the file is empty, not even a header"}
		}
		return t
	}
	for i, name := range t.row {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff")
		}
		if _, twice := t.column[name]; twice {
			t.fail(i, "", fmt.Sprintf("two columns are named %q", name))
			return t
		}
		t.column[name] = i
	}
	for _, name := range required {
		if _, ok := t.column[name]; !ok {
			t.fail(0, "", fmt.Sprintf("the header has no column %q", name))
			return t
		}
	}
	return t
}

// decompress passes plain text through and unpacks what starts as gzip does.
func decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); !slices.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// next moves to the next row, and reports false at the end or after a fault.
func (t *table) next() bool {
	if t.err != nil {
		return false
	}
	var err error
	t.row, err = t.csv.Read()
	if err == nil {
		return true
	}
	if err == io.EOF {
		return false
	}
	t.err = fmt.Errorf("openb: %s: %w", t.file, err)
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		detail := parse.Err.Error()
		if parse.Err == csv.ErrFieldCount {
			detail = fmt.Sprintf("%d fields where the header has %d", len(t.row), len(t.column))
		}
		t.err = &SyntaxError{File: t.file, Line: parse.Line, Column: parse.Column, Detail: detail}
	}
	return false
}

// fail records a fault in field i of the current row.
func (t *table) fail(i int, name, detail string) {
	if t.err == nil {
		line, column := t.csv.FieldPos(i)
		t.err = &SyntaxError{File: t.file, Line: line, Column: column, Field: name, Detail: detail}
	}
}

// text returns a field of the current row, "" if the file has no such column.
func (t *table) text(name string) string {
	if i, ok := t.column[name]; ok {
		return t.row[i]
	}
	return ""
}

// reject records a fault in the named field.
func (t *table) reject(name, format string, args ...any) {
	t.fail(t.column[name], name, fmt.Sprintf(format, args...))
}

// integer returns a field that must be a whole number in low..high. Files written from data frames have numbers such as
// "8000.0", which are whole.
func (t *table) integer(name string, low, high int64) int64 {
	text := t.text(name)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			t.reject(name, "%q is not a whole number", text)
			return 0
		}
		v = int64(f)
	}
	if v < low || v > high {
		t.reject(name, "%s is not in %d..%d", text, low, high)
		return 0
	}
	return v
}

// unique returns a field that must not be empty nor have come before.
func (t *table) unique(name string, seen map[string]bool) string {
	text := strings.Clone(t.text(name))
	switch {
	case text == "":
		t.reject(name, "is empty")
	case seen[text]:
		t.reject(name, "%q came before", text)
	}
	seen[text] = true
	return text
}
