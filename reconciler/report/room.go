package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/words"
)

// maxChanges is how many bytes the changes of a comparison take as text, unless a Look says otherwise.
const maxChanges = 1 << 20

// changes prints changes, which come by rank: the one that matters most is the last. The first that has no room is cut,
// and those that matter less are counted.
func (p *printer) changes(all []preview.Change, look Look) {
	room := cmp.Or(look.Room, maxChanges)
	var shown []string
	n := 0
	for ; n < len(all) && room > 0; n++ {
		var b strings.Builder
		one := printer{w: &b, paint: p.paint}
		if look.Stat {
			one.stat(&all[n])
		} else {
			one.change(&all[n])
		}
		text := b.String()
		if len(text) > room {
			if text = cut(text, room); text == "" {
				break
			}
		}
		room -= len(text)
		shown = append(shown, text)
	}
	if rest := all[n:]; len(rest) > 0 {
		objects := 0
		for i := range rest {
			objects += len(rest[i].Objects)
		}
		p.line("%s of %s not shown: there is no room; --stat, -n and --cluster show less of each, -o html and -o json show all\n",
			words.Count(len(rest), "more change"), words.Count(objects, "object"))
	}
	for _, text := range slices.Backward(shown) {
		p.line("%s", strings.TrimSuffix(text, "\n"))
	}
}

// cut leaves of a text the first lines, as many as there is room for, and counts the others; empty if that
// is none.
func cut(text string, room int) string {
	end := strings.LastIndexByte(text[:room], '\n') + 1
	if end == 0 {
		return ""
	}
	return text[:end] + "    and " + words.Count(strings.Count(strings.TrimRight(text[end:], "\n"), "\n")+1, "more line") + "\n\n"
}
