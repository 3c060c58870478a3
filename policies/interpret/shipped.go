package interpret

import (
	"io/fs"
	"path"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// shipped are the layers of the kinds of other projects, which all interpreters share: our files,
// and then Karmada's customizations.
var shipped = sync.OnceValue(func() []layer {
	return []layer{filesLayer(thirdparty.Files()), karmadaLayer(thirdparty.Karmada())}
})

// filesLayer is the layer of Lua files, each named group/version/Kind.lua, which defines
// functions.
func filesLayer(files fs.FS) layer {
	return shippedLayer(files, "*/*/*.lua", func(k kind, source []byte) lessons {
		code := compileShipped(k, string(source))
		ls := lessons{}
		for _, op := range operations {
			if code.Defines(op.function) {
				ls[op.name] = []script{{by: ruleName("waybill", k), function: op.function, code: code}}
			}
		}
		return ls
	})
}

// karmadaLayer is the layer of customizations, each named
// group/version/Kind/customizations.yaml, as Karmada has them. Three of them write the time of the
// aggregation into a status; it is left out, as everywhere here.
func karmadaLayer(files fs.FS) layer {
	return shippedLayer(files, "*/*/*/customizations.yaml", func(k kind, source []byte) lessons {
		var c karmada.ResourceInterpreterCustomization
		if err := yaml.Unmarshal(source, &c); err != nil {
			panic("interpret: the customization of " + k.name + ": " + err.Error())
		}
		ls := lessons{}
		for _, op := range operations {
			if text := op.source(&c.Spec.Customizations); text != "" {
				ls[op.name] = []script{{by: ruleName(thirdparty.Source, k), function: op.function, code: compileShipped(k, text).Undated()}}
			}
		}
		return ls
	})
}

// shippedLayer is the layer of the files that match a pattern. What they teach is read when the
// kind is first met, and has to be right: it is part of the program.
func shippedLayer(files fs.FS, pattern string, read func(kind, []byte) lessons) layer {
	l := layer{taught: map[kind]*scripted{}}
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic("interpret: a pattern that never changes is wrong: " + err.Error())
	}
	for _, name := range names {
		parts := strings.Split(strings.TrimSuffix(name, ".lua"), "/")
		k := kind{path.Join(parts[0], parts[1]), parts[2]}
		l.taught[k] = &scripted{load: func() lessons {
			source, err := fs.ReadFile(files, name)
			if err != nil {
				panic("interpret: " + err.Error())
			}
			return read(k, source)
		}}
	}
	return l
}

func compileShipped(k kind, source string) *lua.Script {
	code, err := lua.Compile(source)
	if err != nil {
		panic("interpret: the rules of " + k.apiVersion + " " + k.name + ": " + err.Error())
	}
	return code
}

// ruleName names a rule by its source and the kind: "karmada v1.16.0 apps.kruise.io/CloneSet".
func ruleName(source string, k kind) string {
	group, _, _ := strings.Cut(k.apiVersion, "/")
	return source + " " + group + "/" + k.name
}
