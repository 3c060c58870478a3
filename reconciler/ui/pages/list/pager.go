package list

import (
	"net/url"
	"strconv"
)

// PageParam is the parameter of an address that says which part of a list is shown, from 1 on.
const PageParam = "page"

// Parts is a list that is shown in parts.
type Parts struct {
	What  string // what there are so many of
	Path  string // of the page
	Param string // of the address, which counts the parts
	Size  int    // of a part
}

// Pager leads through a list that is shown in parts.
type Pager struct {
	From, To, Of   int
	Previous, Next string // addresses; empty for none
	What           string // what there are so many of
}

// Page leads through a list of so many things: it returns where the part begins and ends that an address asks for. An address
// that asks for no part there is means the nearest one.
func (l Parts) Page(q url.Values, of int) (p Pager, from, to int) {
	n, err := strconv.Atoi(q.Get(l.Param))
	if err != nil {
		n = 1
	}
	last := max(1, (of+l.Size-1)/l.Size)
	n = min(max(n, 1), last)
	from, to = (n-1)*l.Size, min(n*l.Size, of)
	p = Pager{From: min(from+1, of), To: to, Of: of, What: l.What}
	if n > 1 {
		p.Previous = With(l.Path, q, l.Param, strconv.Itoa(n-1))
	}
	if n < last {
		p.Next = With(l.Path, q, l.Param, strconv.Itoa(n+1))
	}
	return p, from, to
}
