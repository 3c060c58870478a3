package push

import (
	"log/slog"
	"testing"
	"time"

	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestWhatIsKnownOfAClusterOfTheName: what was seen of the one before counts for no other, and another one counts only where it is certain
// that it is the right one.
func TestWhatIsKnownOfAClusterOfTheName(t *testing.T) {
	api := types.NamespacedName{Namespace: "shop", Name: "api"}
	slice := &discovery.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api-1", Labels: map[string]string{discovery.LabelServiceName: "api"}}}
	for _, tt := range []struct {
		name    string
		then    reached
		refused bool
		uid     string
		knows   bool
	}{
		{"the same", reached{uid: "one"}, false, "one", true},
		{"the same, for certain", reached{uid: "one", isKnown: true}, false, "one", true},
		{"another one", reached{uid: "two"}, true, "one", true},
		{"another one, for certain", reached{uid: "two", isKnown: true}, false, "two", false},
	} {
		now := time.Unix(0, 0)
		p := &provider{exchange: New(nil, func() time.Time { return now }, func() float64 { return 0 }, slog.New(slog.DiscardHandler)), name: "eu", heard: now}
		if err := p.recognise(&reached{uid: "one"}); err != nil {
			t.Fatal(err)
		}
		p.told([]string{"api"}, []*discovery.EndpointSlice{slice})
		err := p.recognise(&tt.then)
		has := p.has([]types.NamespacedName{api}, time.Minute)
		if _, knows := has.Services[api]; (err != nil) != tt.refused || has.UID != tt.uid || knows != tt.knows {
			t.Errorf("%s: %v; of %s it knows %v", tt.name, err, has.UID, has.Services)
		}
		if has := p.has([]types.NamespacedName{{Namespace: "shop", Name: "web"}}, time.Minute); len(has.Services) > 0 {
			t.Errorf("%s: of what nobody asked for it knows %v", tt.name, has.Services)
		}
		now = now.Add(time.Minute)
		if p.has(nil, time.Minute).Silent {
			t.Errorf("%s: it is silent early", tt.name)
		}
		if now = now.Add(time.Second); !p.has(nil, time.Minute).Silent || p.has(nil, 0).Silent {
			t.Errorf("%s: it is not silent, or where nobody asks for that", tt.name)
		}
	}
}
