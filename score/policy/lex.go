package policy

import (
	"strconv"
	"unicode/utf8"
)

// position counts lines and characters from 1.
type position struct{ line, column int32 }

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	textToken
	signToken // operators, parentheses, comma: text has it
)

type token struct {
	kind tokenKind
	at   position
	text string // a name, a sign, or the value of a text
	num  Number
}

// String names the token in errors.
func (t token) String() string {
	switch t.kind {
	case endToken:
		return "end of source"
	case numberToken:
		return "number " + t.num.String()
	case textToken:
		return "text " + quoted(t.text)
	}
	return quoted(t.text)
}

// quoted quotes a text for an error, the beginning of a long one.
func quoted(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return strconv.Quote(string(runes[:40])) + "..."
	}
	return strconv.Quote(text)
}

// lexer cuts a source into tokens.
type lexer struct {
	src string
	off int
	at  position // of off
}

// next returns the next token. The fault is "" or what is wrong at the position of the token.
func (l *lexer) next() (t token, fault string) {
	l.skipSpace()
	t.at = l.at
	if l.off == len(l.src) {
		return t, ""
	}
	switch c := l.src[l.off]; {
	case isLetter(c):
		t.kind, t.text = nameToken, l.take(l.span(isWord))
	case isDigit(c):
		t.kind = numberToken
		t.num, fault = parseNumber(l.take(l.span(func(c byte) bool { return isWord(c) || c == '.' })))
	case c == '"':
		t.kind = textToken
		t.text, fault = l.text()
	default:
		t.kind, t.text = signToken, l.sign()
		if t.text == "" {
			return t, l.strange()
		}
	}
	return t, fault
}

// skipSpace skips white space and comments, which go from # to the end of the line.
func (l *lexer) skipSpace() {
	comment := false
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == '\n':
			comment = false
			l.off++
			l.at = position{l.at.line + 1, 1}
		case comment, c == '#':
			comment = true
			_, size := utf8.DecodeRuneInString(l.src[l.off:])
			l.take(size)
		case c == ' ', c == '\t', c == '\r':
			l.take(1)
		default:
			return
		}
	}
}

// span returns the number of bytes from here on that are of a kind.
func (l *lexer) span(is func(byte) bool) int {
	end := l.off
	for end < len(l.src) && is(l.src[end]) {
		end++
	}
	return end - l.off
}

// take returns the next bytes, which have no line break among them, and moves on.
func (l *lexer) take(size int) string {
	s := l.src[l.off : l.off+size]
	l.off += size
	l.at.column += int32(utf8.RuneCountInString(s))
	return s
}

// text reads a text in double quotes with the escapes of Go.
func (l *lexer) text() (text, fault string) {
	for end := l.off + 1; end < len(l.src) && l.src[end] != '\n'; end++ {
		switch l.src[end] {
		case '\\':
			end++
		case '"':
			text, err := strconv.Unquote(l.take(end + 1 - l.off))
			if err != nil {
				return "", "bad escape in a text"
			}
			return text, ""
		}
	}
	return "", "text is not closed on its line"
}

// sign returns the operator or bracket that is next, or "".
func (l *lexer) sign() string {
	rest := l.src[l.off:]
	if len(rest) >= 2 {
		switch rest[:2] {
		case "||", "&&", "==", "!=", "<=", ">=":
			return l.take(2)
		}
	}
	switch rest[0] {
	case '<', '>', '+', '-', '*', '/', '%', '!', '(', ')', ',':
		return l.take(1)
	}
	return ""
}

// strange says that no token begins with the next character.
func (l *lexer) strange() string {
	r, _ := utf8.DecodeRuneInString(l.src[l.off:])
	fault := "unexpected character " + strconv.QuoteRune(r)
	switch r {
	case '=', '&', '|':
		return fault + ", want " + strconv.Quote(string([]rune{r, r}))
	case '\'', '`':
		return fault + ": texts are in double quotes"
	}
	return fault
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }

// isName reports whether s has the syntax of a name.
func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) || i == 0 && !isLetter(s[i]) {
			return false
		}
	}
	return s != ""
}
