package openb

import (
	"errors"
	"fmt"
)

// ErrSyntax is what every error about the content of a file wraps.
var ErrSyntax = errors.New("openb: bad file")

// SyntaxError says where a file is wrong.
type SyntaxError struct {
	File string
	// Line and Column are the place of the field, from 1; Column counts bytes. The lines are those of the file as it is
	// after decompression.
	Line, Column int
	// Field is the name of the field's column in the header, empty if the fault is not in a field.
	Field string
	// Detail says what is wrong.
	Detail string
}

// Error gives the place in the form file:line:column, then the field and what is wrong with it.
func (e *SyntaxError) Error() string {
	field := ""
	if e.Field != "" {
		field = e.Field + ": "
	}
	return fmt.Sprintf("openb: %s:%d:%d: %s%s", e.File, e.Line, e.Column, field, e.Detail)
}

// Unwrap makes errors.Is(e, ErrSyntax) true.
func (e *SyntaxError) Unwrap() error { return ErrSyntax }
