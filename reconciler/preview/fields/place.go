package fields

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// place is where a field is.
type place struct {
	path   string
	steps  []any
	of     reflect.Type // of the value there, or of the items of a list; nil where it is not known
	keys   []string     // that items of the list there are merged by
	secret bool         // it is in a Secret
}

// plain are the keys that a path shows without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// key is the place of a value of a map, which the manifest has there.
func (p place) key(key string, value any) place {
	next := place{steps: append(slices.Clip(p.steps), key), secret: p.secret}
	switch {
	case !plain.MatchString(key):
		next.path = p.path + "[" + strconv.Quote(key) + "]"
	case p.path == "":
		next.path = key
	default:
		next.path = p.path + "." + key
	}
	next.of, next.keys = p.known(key, value)
	return next
}

// known returns what is known of a value of a map: of the value itself, and what its items are merged by.
func (p place) known(key string, value any) (reflect.Type, []string) {
	if p.of == nil {
		return nil, nil
	}
	_, isList := value.([]any)
	t, mergedBy := fieldOf(p.of, key, isList)
	if t == nil || mergedBy == "" {
		return t, nil
	}
	return t, []string{mergedBy}
}

// item is the place of an item of a list, by its index.
func (p place) item(i int) place {
	return place{path: fmt.Sprintf("%s[%d]", p.path, i), steps: append(slices.Clip(p.steps), i), of: p.of, secret: p.secret}
}

// match is the place of an item of a list that is matched by a key.
func (p place) match(i int, key []string, id string) place {
	next := p.item(i)
	next.path = fmt.Sprintf("%s[%s=%s]", p.path, key[0], id)
	return next
}
