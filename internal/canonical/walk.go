package canonical

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berth-go/berth"
)

// unfit returns the first thing in v that JSON cannot carry, or nil.
func unfit(v any) *berth.Fault {
	var fault *berth.Fault
	walk("", reflect.ValueOf(v), func(path string, v reflect.Value) bool {
		if at, ok := v.Interface().(time.Time); ok {
			if year := at.Year(); year < 0 || year > 9999 {
				fault = &berth.Fault{Path: path, Value: at.String(), Detail: "must be in the years 0..9999"}
			}
		} else if v.Kind() == reflect.String && !utf8.ValidString(v.String()) {
			fault = &berth.Fault{Path: path, Value: cut(v.String()), Detail: "must be UTF-8"}
		}
		return fault == nil
	})
	return fault
}

// appendRaw appends all that v holds, a line each.
func appendRaw(b []byte, v any) []byte {
	walk("", reflect.ValueOf(v), func(path string, v reflect.Value) bool {
		b = append(strconv.AppendQuote(b, path), ' ')
		switch v.Kind() {
		case reflect.String:
			b = strconv.AppendQuote(b, v.String())
		case reflect.Bool:
			b = strconv.AppendBool(b, v.Bool())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			b = strconv.AppendInt(b, v.Int(), 10)
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			b = strconv.AppendUint(b, v.Uint(), 10)
		case reflect.Pointer, reflect.Slice, reflect.Map:
			b = strconv.AppendBool(b, v.IsNil())
		case reflect.Struct:
			if at, ok := v.Interface().(time.Time); ok {
				b = strconv.AppendInt(append(strconv.AppendInt(b, at.Unix(), 10), ' '), int64(at.Nanosecond()), 10)
			}
		}
		b = append(b, '\n')
		return true
	})
	return b
}

// walk calls visit with v and everything that it is made of, in a fixed order, each with its path in the JSON, until visit
// returns false. Keys of maps are visited too.
func walk(path string, v reflect.Value, visit func(path string, v reflect.Value) bool) bool {
	if !visit(path, v) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || walk(path, v.Elem(), visit)
	case reflect.Struct:
		return walkFields(path, v, visit)
	case reflect.Slice:
		for i := range v.Len() {
			if !walk(path+"["+strconv.Itoa(i)+"]", v.Index(i), visit) {
				return false
			}
		}
	case reflect.Map:
		return walkMap(path, v, visit)
	}
	return true
}

func walkFields(path string, v reflect.Value, visit func(string, reflect.Value) bool) bool {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return true
	}
	for field, value := range v.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if path != "" {
			name = path + "." + name
		}
		if !walk(name, value, visit) {
			return false
		}
	}
	return true
}

func walkMap(path string, v reflect.Value, visit func(string, reflect.Value) bool) bool {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		entry := path + "[" + cut(key.String()) + "]"
		if !visit(entry, key) || !walk(entry, v.MapIndex(key), visit) {
			return false
		}
	}
	return true
}

// cut returns s, or as much of it as an error shows.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
