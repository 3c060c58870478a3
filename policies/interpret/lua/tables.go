package lua

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// tableFunctions are those of the table library that allocate or take long.
func (m *meter) tableFunctions() map[string]glua.LGFunction {
	return map[string]glua.LGFunction{
		"concat": pricing(m.tableConcat),
		"insert": pricing(m.tableInsert),
		"remove": pricing(m.tableRemove),
		"sort":   pricing(m.tableSort),
	}
}

// tableConcat joins the items from i to j, all if they are not given.
func (m *meter) tableConcat(l *glua.LState) int {
	t, sep := l.CheckTable(1), l.OptString(2, "")
	length := t.Len()
	i, j := l.OptInt(3, 1), l.OptInt(4, length)
	if i < 1 || j > length {
		i, j = max(i, 1), min(j, length)
	}
	n := max(0, j-i+1)
	m.pay(l, n, itemSize*n)
	parts, size := make([]string, 0, n), len(sep)*max(0, n-1)
	for ; i <= j; i++ {
		v := t.RawGetInt(i)
		if !glua.LVCanConvToString(v) {
			l.RaiseError("table.concat: item %d is a %s", i, v.Type())
		}
		parts = append(parts, v.String())
		size += len(parts[len(parts)-1])
	}
	m.text(l, size)
	l.Push(glua.LString(join(parts, sep, size)))
	return 1
}

// join is strings.Join for a size that is known.
func join(parts []string, sep string, size int) string {
	var b strings.Builder
	b.Grow(size)
	for i, p := range parts {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(p)
	}
	return b.String()
}

// tableInsert puts a value at the end or before an item.
func (m *meter) tableInsert(l *glua.LState) int {
	t := l.CheckTable(1)
	length := t.Len()
	if l.GetTop() == 2 {
		m.pay(l, 1, 2*itemSize)
		t.Append(l.Get(2))
		return 0
	}
	at, v := l.CheckInt(2), l.CheckAny(3)
	if at < 1 || at > length+1 {
		l.ArgError(2, fmt.Sprintf("the position %d is outside the list of %d items", at, length))
	}
	m.pay(l, 1+(length-at)/64, 2*itemSize)
	if v == glua.LNil {
		m.holes[t]++
	}
	t.Insert(at, v)
	return 0
}

// tableRemove takes an item out, the last without a position.
func (m *meter) tableRemove(l *glua.LState) int {
	t := l.CheckTable(1)
	length := t.Len()
	at := l.OptInt(2, length)
	if at < 1 || at > length {
		l.Push(glua.LNil)
		return 1
	}
	m.pay(l, 1+(length-at)/64, 0)
	removed := t.RawGetInt(at)
	t.Remove(at)
	l.Push(removed)
	return 1
}

// tableSort sorts a list in place.
func (m *meter) tableSort(l *glua.LState) int {
	t := l.CheckTable(1)
	less := l.OptFunction(2, nil)
	n := t.Len()
	m.pay(l, 2*n*bits.Len(uint(n)), itemSize*n)
	items := make([]glua.LValue, n)
	for i := range items {
		items[i] = t.RawGetInt(i + 1)
	}
	sort.SliceStable(items, func(i, j int) bool {
		if less == nil {
			m.pay(l, min(m.length(items[i]), m.length(items[j])), 0)
			return l.LessThan(items[i], items[j])
		}
		l.Push(less)
		l.Push(items[i])
		l.Push(items[j])
		l.Call(2, 1)
		result := l.Get(-1)
		l.Pop(1)
		return glua.LVAsBool(result)
	})
	for i, v := range items {
		t.RawSetInt(i+1, v)
	}
	return 0
}
