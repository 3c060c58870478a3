package override

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
)

const sha = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c"

// What Karmada's own functions answer.
func TestParseImage(t *testing.T) {
	const hex = "50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c"
	for _, tt := range []struct {
		in   string
		want image
		out  string // as in if empty
	}{
		{in: "nginx", want: image{repository: "nginx"}},
		{in: "nginx:1.0", want: image{repository: "nginx", tag: "1.0"}},
		{in: "library/nginx", want: image{repository: "library/nginx"}},
		{in: "docker.io/library/nginx:1", want: image{host: "docker.io", repository: "library/nginx", tag: "1"}},
		{in: "localhost/x", want: image{host: "localhost", repository: "x"}},
		{in: "localhost:5000/x:1", want: image{host: "localhost:5000", repository: "x", tag: "1"}},
		{in: "reg/x", want: image{repository: "reg/x"}},
		{in: "reg.io/x", want: image{host: "reg.io", repository: "x"}},
		{in: "a.b:80/c/d/e:tag", want: image{host: "a.b:80", repository: "c/d/e", tag: "tag"}},
		{in: "nginx@" + sha, want: image{repository: "nginx", digest: sha}},
		{in: "nginx:1.0@" + sha, want: image{repository: "nginx", tag: "1.0"}, out: "nginx:1.0"},
		{in: "REG.io/x:1", want: image{host: "REG.io", repository: "x", tag: "1"}},
		{in: "[::1]:5000/x", want: image{host: "[::1]:5000", repository: "x"}},
		{in: "sha256:50d8", want: image{repository: "sha256", tag: "50d8"}},
		{in: hex, want: image{repository: hex}},
	} {
		got, err := parseImage(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("parseImage(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if tt.out == "" {
			tt.out = tt.in
		}
		if s := got.String(); s != tt.out {
			t.Errorf("%q is %q after parsing, want %q", tt.in, s, tt.out)
		}
	}
	for in, want := range map[string]string{
		"Nginx:1": "repository name must be lowercase",
		"":        "repository name must have at least one component",
		"nginx:":  "invalid reference format",
	} {
		if got, err := parseImage(in); err == nil || err.Error() != want {
			t.Errorf("parseImage(%q) = %+v, %v; want the error %q", in, got, err, want)
		}
	}
}

const (
	add     = karmada.OverriderOpAdd
	remove  = karmada.OverriderOpRemove
	replace = karmada.OverriderOpReplace
)

// What Karmada's own functions answer, for each component and operator.
func TestOverrideImage(t *testing.T) {
	ops := []karmada.ImageOverrider{
		{Component: "Registry", Operator: add, Value: "my.reg"},
		{Component: "Registry", Operator: remove, Value: "my.reg"},
		{Component: "Registry", Operator: replace, Value: "my.reg:80"},
		{Component: "Repository", Operator: add, Value: "/sub"},
		{Component: "Repository", Operator: remove, Value: "/sub"},
		{Component: "Repository", Operator: replace, Value: "new/repo"},
		{Component: "Tag", Operator: add, Value: "-alpine"},
		{Component: "Tag", Operator: remove, Value: "-alpine"},
		{Component: "Tag", Operator: replace, Value: "2.0"},
	}
	for image, want := range map[string][9]string{
		"nginx:1.0": {
			"my.reg/nginx:1.0", "nginx:1.0", "my.reg:80/nginx:1.0",
			"nginx/sub:1.0", ":1.0", "new/repo:1.0",
			"nginx:1.0-alpine", "nginx", "nginx:2.0",
		},
		"nginx": {
			"my.reg/nginx", "nginx", "my.reg:80/nginx",
			"nginx/sub", "", "new/repo",
			"nginx", "nginx", "nginx:2.0",
		},
		"registry.io:5000/team/app:v1": {
			"registry.io:5000my.reg/team/app:v1", "team/app:v1", "my.reg:80/team/app:v1",
			"registry.io:5000/team/app/sub:v1", "registry.io:5000/:v1", "registry.io:5000/new/repo:v1",
			"registry.io:5000/team/app:v1-alpine", "registry.io:5000/team/app", "registry.io:5000/team/app:2.0",
		},
		"my.app:1.0": {
			"my.reg/my.app:1.0", "my.app:1.0", "my.reg:80/my.app:1.0",
			"my.app/sub:1.0", ":1.0", "new/repo:1.0",
			"my.app:1.0-alpine", "my.app", "my.app:2.0",
		},
		"team/app@" + sha: {
			"my.reg/team/app@" + sha, "team/app@" + sha, "my.reg:80/team/app@" + sha,
			"team/app/sub@" + sha, "@" + sha, "new/repo@" + sha,
			"team/app@" + sha, "team/app", "team/app:2.0",
		},
		"nginx:1.0@" + sha: {
			"my.reg/nginx:1.0", "nginx:1.0", "my.reg:80/nginx:1.0",
			"nginx/sub:1.0", ":1.0", "new/repo:1.0",
			"nginx:1.0-alpine", "nginx", "nginx:2.0",
		},
	} {
		for i, op := range ops {
			checkImage(t, image, op, want[i])
		}
	}
}

func TestOverrideImageValues(t *testing.T) {
	const other = "sha256:dbcc1c35ac38df41fd2f5e4130b32ffdb93ebae8b3dbe638c23575912276fc9c"
	for _, tt := range []struct {
		name      string
		component karmada.ImageComponent
		value     string
		want      string
	}{
		{"a digest takes the place of the tag", "Tag", other, "nginx@" + other},
		{"a digest with its sign is neither", "Tag", "@" + other, "nginx:1.0"},
		{"a tag with its sign is neither", "Tag", ":2.0", "nginx:1.0"},
		{"an empty tag is none", "Tag", "", "nginx:1.0"},
		{"a tag has no space", "Tag", "bad tag", "nginx:1.0"},
		{"a digest is long", "Tag", "sha256:abc", "nginx:1.0"},
		{"a tag has dots, dashes and underscores", "Tag", "1.2.3-rc_1", "nginx:1.2.3-rc_1"},
		{"an empty registry is none", "Registry", "", "nginx:1.0"},
		{"a registry keeps its slash", "Registry", "my.reg/", "my.reg//nginx:1.0"},
		{"a registry may have a path", "Registry", "my.reg/team", "my.reg/team/nginx:1.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkImage(t, "nginx:1.0", karmada.ImageOverrider{Component: tt.component, Operator: replace, Value: tt.value}, tt.want)
		})
	}
	checkImage(t, "nginx:1.0@"+sha, karmada.ImageOverrider{Component: "Registry", Operator: "move"}, "nginx:1.0")
	if got, err := new(applier).overrideImage("nginx", &karmada.ImageOverrider{Component: "Digest", Operator: replace}); err == nil {
		t.Errorf("the component Digest gives %q, want an error", got)
	}
}

func checkImage(t *testing.T, image string, o karmada.ImageOverrider, want string) {
	t.Helper()
	got, err := new(applier).overrideImage(image, &o)
	if err != nil || got != want {
		t.Errorf("%s %s %q on %q = %q, %v; want %q", o.Component, o.Operator, o.Value, image, got, err, want)
	}
}
