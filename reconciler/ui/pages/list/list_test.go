package list_test

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
)

type thing struct {
	name string
	size int
}

var columns = []list.Column[thing]{
	list.ByText("Name", "name", func(x thing) string { return x.name }),
	list.ByNumber("Size", "size", func(x thing) int { return x.size }),
	list.ByRank("Rank", "rank", func(x thing) int { return x.size }),
	list.By("Length", "length", func(a, b thing) int { return cmp.Compare(len(a.name), len(b.name)) }),
	list.Fixed[thing]("Notes"),
}

// A head leads from no order to its first, to the other one and back to none; of numbers the largest are first. What is equal keeps its
// order, and another part of the list is left.
func TestSort(t *testing.T) {
	for query, test := range map[string]struct{ want, heads string }{
		"": {
			"bb a ccc d",
			"Name()=/things?sort=name Size(n)=/things?sort=-size Rank()=/things?sort=rank Length()=/things?sort=length Notes()=",
		},
		"sort=name": {
			"a bb ccc d",
			"Name()▲=/things?sort=-name Size(n)=/things?sort=-size Rank()=/things?sort=rank Length()=/things?sort=length Notes()=",
		},
		"sort=-name&page=2&q=x": {
			"d ccc bb a",
			"Name()▼=/things?q=x Size(n)=/things?q=x&sort=-size Rank()=/things?q=x&sort=rank Length()=/things?q=x&sort=length Notes()=",
		},
		"sort=-size": {
			"a d bb ccc",
			"Name()=/things?sort=name Size(n)▼=/things?sort=size Rank()=/things?sort=rank Length()=/things?sort=length Notes()=",
		},
		"sort=size": {
			"bb ccc a d",
			"Name()=/things?sort=name Size(n)▲=/things Rank()=/things?sort=rank Length()=/things?sort=length Notes()=",
		},
		"sort=rank": {
			"bb ccc a d",
			"Name()=/things?sort=name Size(n)=/things?sort=-size Rank()▲=/things?sort=-rank Length()=/things?sort=length Notes()=",
		},
		"sort=-length": {
			"ccc bb a d",
			"Name()=/things?sort=name Size(n)=/things?sort=-size Rank()=/things?sort=rank Length()▼=/things Notes()=",
		},
		"sort=weight": {
			"bb a ccc d",
			"Name()=/things?sort=name Size(n)=/things?sort=-size Rank()=/things?sort=rank Length()=/things?sort=length Notes()=",
		},
	} {
		all := []thing{{"bb", 1}, {"a", 2}, {"ccc", 1}, {"d", 2}}
		var names, heads []string
		for _, h := range list.Sort(all, columns, "/things", parsed(t, query)) {
			heads = append(heads, h.Name+"("+h.Class+")"+h.Sign()+"="+h.URL)
		}
		for _, x := range all {
			names = append(names, x.name)
		}
		if is := strings.Join(names, " "); is != test.want {
			t.Errorf("%s: %s, want %s", query, is, test.want)
		}
		if is := strings.Join(heads, " "); is != test.heads {
			t.Errorf("%s: heads\n%s, want\n%s", query, is, test.heads)
		}
	}
}

func TestPage(t *testing.T) {
	for _, test := range []struct {
		query    string
		of       int
		want     list.Pager
		from, to int
	}{
		{"", 0, list.Pager{}, 0, 0},
		{"page=7", 0, list.Pager{}, 0, 0},
		{"", 10, list.Pager{From: 1, To: 10, Of: 10}, 0, 10},
		{"", 11, list.Pager{From: 1, To: 10, Of: 11, Next: "/things?page=2"}, 0, 10},
		{"page=2&q=x", 11, list.Pager{From: 11, To: 11, Of: 11, Previous: "/things?page=1&q=x"}, 10, 11},
		{"page=2", 30, list.Pager{From: 11, To: 20, Of: 30, Previous: "/things?page=1", Next: "/things?page=3"}, 10, 20},
		{"page=9", 30, list.Pager{From: 21, To: 30, Of: 30, Previous: "/things?page=2"}, 20, 30},
		{"page=-1", 30, list.Pager{From: 1, To: 10, Of: 30, Next: "/things?page=2"}, 0, 10},
		{"page=many", 30, list.Pager{From: 1, To: 10, Of: 30, Next: "/things?page=2"}, 0, 10},
	} {
		test.want.What = "things"
		p, from, to := list.Parts{What: "things", Path: "/things", Param: "page", Size: 10}.Page(parsed(t, test.query), test.of)
		if p != test.want || from != test.from || to != test.to {
			t.Errorf("%q of %d: %+v from %d to %d, want %+v from %d to %d", test.query, test.of, p, from, to, test.want, test.from, test.to)
		}
	}
}

// An address keeps what it says, but for what is set anew, is empty, or is said twice; and it does not change the one that it is made of.
func TestWith(t *testing.T) {
	q := parsed(t, "q=a+b&q=c&empty=&page=3")
	if is, want := list.With("/things", q, "page", "", "sort", "name"), "/things?q=a+b&sort=name"; is != want {
		t.Errorf("%s, want %s", is, want)
	}
	if is := list.With("/things", q, "page", "", "q", ""); is != "/things" {
		t.Errorf("%s, want /things", is)
	}
	if !slices.Equal(q["page"], []string{"3"}) || len(q) != 3 {
		t.Errorf("the parameters that were given are now %v", q)
	}
}

func parsed(t *testing.T, query string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
