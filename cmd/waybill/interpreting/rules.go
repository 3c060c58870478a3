package interpreting

import (
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// Rules are those of files, and what is wrong with their scripts.
func Rules(in io.Reader, names []string) (*health.Judge, []string, error) {
	var r ruleFiles
	for _, name := range names {
		data, err := readInput(in, name)
		if err != nil {
			return nil, nil, err
		}
		err = eachDocument(data, func(doc []byte) error { return r.add(name, doc) })
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	kinds := interpret.New(r.custom...)
	for _, e := range kinds.Wrong() {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %s, line %d of the script: %s", e.Customization, e.Field, e.Line, e.Message))
	}
	return &health.Judge{Kinds: kinds, Own: r.own}, r.wrong, nil
}

// ruleFiles are the rules in files.
type ruleFiles struct {
	custom []*karmada.ResourceInterpreterCustomization
	own    *argocd.Rules
	wrong  []string
}

// add reads a document of a file.
func (r *ruleFiles) add(name string, doc []byte) error {
	var c karmada.ResourceInterpreterCustomization
	if err := yaml.Unmarshal(doc, &c); err != nil {
		return err
	}
	switch c.Kind {
	case "ResourceInterpreterCustomization":
		c.Name += " (" + name + ")"
		r.custom = append(r.custom, &c)
		return nil
	case "ConfigMap":
		if r.own != nil {
			return errors.New("it has a second ConfigMap; the scripts of one count, as of a source")
		}
		var m corev1.ConfigMap
		if err := yaml.Unmarshal(doc, &m); err != nil {
			return err
		}
		scripts, mistakes := argocd.Read(m.Namespace+"/"+m.Name+" ("+name+")", m.Data)
		r.own = scripts.Rules()
		for _, e := range mistakes {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s", name, e))
		}
		return nil
	}
	return fmt.Errorf("kind %q is no ResourceInterpreterCustomization, and no ConfigMap", c.Kind)
}
