package propose_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/registry"
)

// What was in use when a newer version was proposed, and is not any more, was sent back.
func TestARevertWhileANewerOneIsProposed(t *testing.T) {
	w := begin(t, sourceOf(", limits: {perHour: 9}"), "1.0.0", "1.1.0", "1.2.0")
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.1.0"), value(image+":1.1.0")
	w.commit()
	w.runs(opened)
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.0.0"), value(image+":1.0.0")
	w.commit()
	w.runs(edited)
	w.registry.tags[image] = []string{"1.0.0", "1.1.0"}
	w.runs(closed)
	if got := w.memory().Policies[web].KeptBack; len(got) != 1 || got["1.1.0"] == "" {
		t.Errorf("kept back is %v", got)
	}
}

// What the values are while a policy is suspended says nothing of versions.
func TestValuesOfASuspendedPolicy(t *testing.T) {
	w := begin(t, sourceOf(", limits: {perHour: 9}"), "1.0.0", "1.1.0", "1.2.0")
	policy := w.source["images.yaml"]
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.1.0"), value(image+":1.1.0")
	w.commit()
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(policy, "interval: 5m", "suspend: true", 1)
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.0.0"), value(image+":1.0.0")
	w.commit()
	w.runs()
	w.source["images.yaml"] = policy
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.1.0"), value(image+":1.1.0")
	w.commit()
	w.runs(stays)
	if kept := w.memory().Policies[web].KeptBack; len(kept) > 0 {
		t.Errorf("kept back is %v", kept)
	}
}

// digestAlone is a source whose one value is the digest of an image.
func digestAlone(letter string) map[string]string {
	s := sourceOf(", limits: {perHour: 9}")
	delete(s, "apps/job.yaml")
	s["apps/web.yaml"] = "digest: " + digest(letter) + " # {\"$imagepolicy\": \"shop:web:digest\"}\n"
	return s
}

// A value that says the digest alone is written when a newer version is there, once, and does not go down where the list lost that.
func TestADigestAlone(t *testing.T) {
	s := digestAlone("a")
	s["waybill.yaml"] = strings.Replace(s["waybill.yaml"], "pullRequest", "commit", 1)
	w := begin(t, s, "1.0.0", "1.1.0")
	w.registry.digests[image+":1.0.0"], w.registry.digests[image+":1.1.0"] = digest("a"), digest("b")
	w.runs(committed)
	if got := w.changes("main"); !strings.Contains(got["apps/web.yaml"], digest("b")) {
		t.Fatalf("the commit changes %v", got)
	}
	w.pulled().runs()
	w.registry.tags[image] = []string{"1.0.0"}
	w.runs()
	if kept := w.memory().Policies[web].KeptBack; len(kept) > 0 {
		t.Errorf("kept back is %v", kept)
	}
}

// silent is a registry that tells no digest of what an image is.
type silent struct{ *registries }

func (s silent) Image(ctx context.Context, ref string) (registry.Image, error) {
	is, err := s.registries.Image(ctx, ref)
	is.Digest = ""
	return is, err
}

// A value that cannot be written, as a digest that nobody tells, is a reason of its policy alone.
func TestAValueThatCannotBeWritten(t *testing.T) {
	s := digestAlone("a")
	s["api.yaml"] = strings.NewReplacer("name: web,", "name: api,", "{name: web}", "{name: api}", "acme/web", "acme/api").Replace(s["images.yaml"])
	s["apps/api.yaml"] = "image: ghcr.io/acme/api:1.0.0 # {\"$imagepolicy\": \"shop:api\"}\n"
	w := begin(t, s, "1.1.0")
	w.registry.tags["ghcr.io/acme/api"] = []string{"1.1.0"}
	w.proposer.Registries = func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) {
		return silent{w.registry}, w.catalog, nil
	}
	r := w.runs("Opened waybill/update/shop/api")
	if v := r.Found.Verdicts[1]; v.Why != updates.Uneditable || !strings.Contains(v.Message, "apps/web.yaml:1: there is no digest to write") {
		t.Errorf("it is %s: %s", v.Why, v.Message)
	}
	if f := w.memory().Policies[web].Failure; f == nil || f.Why != updates.Uneditable {
		t.Errorf("noted is %+v", f)
	}
}

// A digest for which several tags stood is the newest of them, so that it does not go down where the list lost that.
func TestADigestOfTwoTags(t *testing.T) {
	w := begin(t, digestAlone("0"), "1.0.0")
	w.registry.digests[image+":1.0.0"], w.registry.digests[image+":1.2.0"] = digest("a"), digest("a")
	for _, tag := range []string{"1.0.0", "1.2.0"} {
		w.registry.tags[image] = []string{tag}
		w.runsAnyway() // which learns what it stands for
	}
	w.source["apps/web.yaml"] = digestAlone("a")["apps/web.yaml"]
	w.forge.all[0].Merged, w.forge.all[0].Open = w.commit().String(), false
	w.registry.tags[image], w.registry.digests[image+":1.1.0"] = []string{"1.0.0", "1.1.0"}, digest("b")
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.UpToDate {
		t.Errorf("it is %+v", v)
	}
}

// The name alone of an image is no version that could be newer.
func TestANameAlone(t *testing.T) {
	s := sourceOf("")
	delete(s, "apps/job.yaml")
	s["apps/web.yaml"] = "name: " + image + " # {\"$imagepolicy\": \"shop:web:name\"}\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	if r := w.runs(); r.Found.Verdicts[0].Why != updates.UpToDate || !w.head(branch).Commit.IsZero() {
		t.Errorf("it is %+v", r.Found.Verdicts[0])
	}
}

// What somebody has to have signed is written with the digest that they signed, so that who moves the tag then changes nothing; a value
// that cannot say it is not written.
func TestWhatIsSignedHasItsDigest(t *testing.T) {
	const verify = ", verify: [{images: ['ghcr.io/acme/*'], keys: [cosign.pub]}]"
	s := sourceOf(verify)
	s["cosign.pub"] = publicKey(t)
	w := begin(t, s, "1.0.0", "1.1.0")
	w.runs(opened)
	if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.1.0@"+digest("a")) {
		t.Errorf("the value is %q", got)
	}
	const tag, of = "tag: 1.0.0 # {\"$imagepolicy\": \"shop:web:tag\"}\n", " # {\"$imagepolicy\": \"shop:web:digest\"}\n"
	s = sourceOf(verify)
	s["cosign.pub"], s["apps/web.yaml"] = publicKey(t), tag
	w = begin(t, s, "1.0.0", "1.1.0")
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.Unverified || !strings.Contains(v.Message, "apps/web.yaml says a tag") {
		t.Errorf("a tag alone is %+v", v)
	}
	w.source["apps/web.yaml"] = tag + "digest: " + digest("0") + of
	w.commit()
	w.runs(opened)
	if got := w.changes(branch)["apps/web.yaml"]; !strings.Contains(got, "digest: "+digest("a")+of) {
		t.Errorf("with its digest it is %q", got)
	}
}
