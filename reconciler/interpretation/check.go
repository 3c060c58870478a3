package interpretation

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/waybill-dev/waybill/reconciler/health"
)

// Case is a question, and the result that is wanted; nil where any will do that is no error.
type Case struct {
	Question

	Name string
	Want any
}

// Check asks cases, and returns what is wrong: a line each.
func Check(judge *health.Judge, cases []Case) []string {
	var wrong []string
	for _, c := range cases {
		a, err := Ask(judge, c.Question)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s: %s: %v", c.Name, c.Operation, err))
		case c.Want != nil && !same(a.Result, c.Want):
			got, _ := json.Marshal(a.Result) // it was decoded
			want, _ := json.Marshal(c.Want)  // it was decoded
			wrong = append(wrong, fmt.Sprintf("%s: %s by %s is %s, want %s", c.Name, c.Operation, a.Rule, got, want))
		}
	}
	return wrong
}

// same reports that two values are the same as JSON.
func same(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

func plain(v any) (out any) {
	data, err := json.Marshal(v)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return nil
	}
	return out
}
