package policy

import (
	"errors"
	"fmt"
)

// The errors of this package, for errors.Is.
var (
	// ErrSyntax is an expression that does not follow the grammar.
	ErrSyntax = errors.New("policy: syntax error")
	// ErrType is an expression whose parts do not go together: an unknown name, a wrong number or type of arguments.
	ErrType = errors.New("policy: type error")
	// ErrLimit is an expression that is larger than the Config allows.
	ErrLimit = errors.New("policy: expression too large")
	// ErrConfig is returned for a Config that makes no sense.
	ErrConfig = errors.New("policy: bad configuration")
)

// Error is what is wrong with an expression, and where. It wraps ErrSyntax, ErrType or ErrLimit.
type Error struct {
	// Line and Column count from 1, columns in characters.
	Line, Column int
	Detail       string

	kind error
}

// Error gives line, column and detail: `policy: 2:7: unknown function "f"`.
func (e *Error) Error() string { return fmt.Sprintf("policy: %d:%d: %s", e.Line, e.Column, e.Detail) }

// Unwrap returns ErrSyntax, ErrType or ErrLimit.
func (e *Error) Unwrap() error { return e.kind }
