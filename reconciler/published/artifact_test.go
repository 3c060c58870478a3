package published

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// desired is the desired state of clusters eu and us at the heads of a repository.
func desired(tb testing.TB, repo *twin.Repo, at render.Addresses) *Desired {
	tb.Helper()
	heads, err := repo.Heads(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	eu := registered("eu")
	eu.Annotations = map[string]string{ReplacesAnnotation: "of before", FormerlyAnnotation: "europe"}
	return &Desired{Clusters: []*karmada.Cluster{eu, registered("us")}, revision: sources.Revision{Repo: here}, at: at, heads: heads}
}

// TestWhatMayBeApplied of a cluster is what Waybill published for it, of this source, whose files nobody edited, and who has to signed it.
// The refusal names the place, and what somebody edited.
func TestWhatMayBeApplied(t *testing.T) {
	allowed, key := signed(t)
	const file = "manifests/shop/configmap/web.yaml"
	web := held{"web": "1"}
	for _, tt := range []struct {
		name    string
		write   func(w func(message string, root *files.Folder))
		signers bool
		want    string // part of the refusal; empty for none
	}{
		{"what was published", func(w func(string, *files.Folder)) { w(publication("c1", "Cluster: eu"), web.root(t)) }, false, ""},
		{"with files of others", func(w func(string, *files.Folder)) { w(publication("c1", "Cluster: eu"), web.root(t, "README")) }, false, ""},
		{"for it and another one", func(w func(string, *files.Folder)) { w(publication("c1", "Cluster: us", "Cluster: eu"), web.root(t)) }, false, ""},
		{"by a version that names no cluster", func(w func(string, *files.Folder)) { w(publication("c1"), web.root(t)) }, false, ""},
		{"for another cluster", func(w func(string, *files.Folder)) { w(publication("c1", "Cluster: us"), web.root(t)) }, false, "was published for the cluster us"},
		{"for others", func(w func(string, *files.Folder)) {
			w(publication("c1", "Cluster: asia", "Cluster: us"), web.root(t))
		}, false, "was published for the cluster asia, us"},
		{"of another source", func(w func(string, *files.Folder)) {
			w(message("https://git.example/other", "", "c1")+"Cluster: eu\n", web.root(t))
		}, false, "was published from https://git.example/other"},
		{"what a person wrote", func(w func(string, *files.Folder)) { w("by hand", twin.Tree{"a": twin.File(nil)}.Folder()) }, false, "was not written by Waybill"},
		{"files without a tree", func(w func(string, *files.Folder)) {
			w(publication("c1", "Cluster: eu"), twin.Tree{"a": twin.File(nil)}.Folder())
		}, false, "was not written by Waybill"},
		{"a tree that no commit of a source made", func(w func(string, *files.Folder)) { w("restored by hand", web.root(t)) }, false, "was not written by Waybill"},
		{"what somebody edited", func(w func(string, *files.Folder)) {
			w(publication("c1", "Cluster: eu"), web.root(t))
			w("by hand", edited(web.root(t), file, "kind: A\n"))
		}, false, "somebody edited its files: " + file + ", in commit "},
		{"what somebody edited in what is published", func(w func(string, *files.Folder)) {
			w(publication("c1", "Cluster: eu"), edited(web.root(t), file, "kind: A\n"))
		}, false, "somebody edited its files; what was applied stays"},
		{"what nobody signed, where nobody has to", func(w func(string, *files.Folder)) { w(publication("c1", "Cluster: eu"), web.root(t)) }, true, "does not count"},
	} {
		for _, at := range []render.Addresses{{Prefix: "waybill/cluster/"}, {Shared: shared}} {
			for _, isSigned := range []bool{false, true} {
				repo := twin.New("branches")
				if isSigned {
					repo.Sign = key.SignCommit
				}
				repo.Write(state.Branch, "the state", twin.Tree{"format": twin.File([]byte("2\n"))}.Folder())
				a := at.Of("eu")
				var head files.ID
				tt.write(func(message string, root *files.Folder) {
					if a.Folder != "" {
						root = folders(map[string]*files.Folder{"eu": root, "us": web.root(t)})
					}
					head = repo.Write(a.Branch, message, root)
				})
				newest := head
				if a.Folder != "" { // what is published for another cluster is no news for this one
					newest = repo.Write(a.Branch, publication("c2", "Cluster: us"), folders(map[string]*files.Folder{"eu": folderAt(t, repo, "eu"), "us": held{"web": "2"}.root(t)}))
				}
				r := &Reader{Branches: At(repo)}
				if tt.signers {
					r.Signers = allowed
				}
				want := tt.want
				if tt.signers && isSigned {
					want = ""
				}
				where := "the head of " + a.Branch + ", " + head.String()[:12]
				if a.Folder != "" {
					where = "folder eu of branch " + a.Branch + ", as of " + head.String()[:12]
				}
				got, err := r.Artifact(t.Context(), desired(t, repo, at), "eu")
				only, onlyErr := r.WithoutObjects(t.Context(), desired(t, repo, at), "eu")
				if (onlyErr == nil) != (err == nil) || err == nil && only.Commit != got.Commit {
					t.Errorf("%s, %v: without objects it is %v, %v", tt.name, a, only, onlyErr)
				}
				switch {
				case want != "":
					if err == nil || !strings.Contains(err.Error(), want) || got.Objects != nil {
						t.Errorf("%s, %v: %v, want %q", tt.name, a, err, want)
					}
					if other := new(OtherSourceError); !errors.As(err, &other) && err != nil && !tt.signers && !strings.Contains(err.Error(), where) {
						t.Errorf("%s: %v does not say %s", tt.name, err, where)
					}
				case err != nil:
					t.Errorf("%s, %v: %v", tt.name, a, err)
				default:
					is := Artifact{
						Cluster: got.Cluster, Address: got.Address, Owner: got.Owner, Commit: got.Commit, Head: got.Head, Source: got.Source,
						Replaces: got.Replaces, NameBefore: got.NameBefore,
					}
					if diff := cmp.Diff(Artifact{
						Cluster: "eu", Address: a, Owner: "git.example/fleet", Commit: head, Head: newest, Source: "c1", Replaces: "of before", NameBefore: "europe",
					}, is); diff != "" {
						t.Errorf("%s, %v (-want +is):\n%s", tt.name, a, diff)
					}
					if len(got.Objects) != 1 || got.Objects[0].Ref.String() != "ConfigMap/shop/web" || got.Objects[0].Manifest["data"] == nil || got.Objects[0].Content.IsZero() || only.Objects != nil {
						t.Errorf("%s, %v: its objects are %+v", tt.name, a, got.Objects)
					}
				}
			}
		}
	}
}

// folderAt is the folder of a cluster at the head of the branch that clusters share.
func folderAt(tb testing.TB, repo *twin.Repo, cluster string) *files.Folder {
	tb.Helper()
	h, _, err := repo.Branch(tb.Context(), shared)
	if err != nil {
		tb.Fatal(err)
	}
	e, _ := h.Tree.Lookup(cluster)
	return e.Dir
}

// TestANameThatAnotherClusterHasIsNoFormerOne: by it the inventory of that other cluster would pass for the one of this, and a kubeconfig
// that leads there would not be refused.
func TestANameThatAnotherClusterHasIsNoFormerOne(t *testing.T) {
	repo := twin.New("branches")
	repo.Write(euAt, publication("c1", "Cluster: eu"), held{"web": "1"}.root(t))
	for before, want := range map[string]string{"us": "", "europe": "europe"} { // us is registered now
		in := desired(t, repo, render.Addresses{Prefix: "waybill/cluster/"})
		in.Clusters[0].Annotations[FormerlyAnnotation] = before
		d, err := (&Reader{Branches: At(repo)}).Artifact(t.Context(), in, "eu")
		if err != nil || d.NameBefore != want {
			t.Errorf("it was %s, and that comes to %q, %v", before, d.NameBefore, err)
		}
	}
}

// TestNothingIsPublishedForIt where neither its branch nor its folder is there: that is no failure, and nothing else is.
func TestNothingIsPublishedForIt(t *testing.T) {
	repo := twin.New("branches")
	repo.Write(usAt, publication("c1", "Cluster: us"), held{"web": "1"}.root(t))
	repo.Write(shared, publication("c1", "Cluster: us"), folders(map[string]*files.Folder{"us": held{"web": "1"}.root(t)}))
	for want, at := range map[string]render.Addresses{
		"there is no branch waybill/cluster/eu in branches":            {Prefix: "waybill/cluster/"},
		"there is no folder eu of branch waybill/clusters in branches": {Shared: shared},
		"there is no folder eu of branch elsewhere in branches":        {Shared: "elsewhere"},
	} {
		c := &counting{Repo: repo}
		r := &Reader{Branches: At(c)}
		if _, err := r.Fingerprint(t.Context(), desired(t, repo, at), registered("eu")); err != nil {
			t.Errorf("what a round would go by: %v", err)
		}
		_, err := r.Artifact(t.Context(), desired(t, repo, at), "eu")
		if hasBranch := at.Shared == shared; slices.Contains(c.asked, "fetch") != hasBranch {
			t.Errorf("of %v it asks %v", at, c.asked)
		}
		if !errors.Is(err, ErrUnpublished) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	in := desired(t, repo, render.Addresses{Prefix: "waybill/cluster/"})
	in.Clusters = in.Clusters[:1]
	if d, err := (&Reader{Branches: At(repo)}).WithoutObjects(t.Context(), in, "us"); err != nil || d.Replaces+d.NameBefore != "" {
		t.Errorf("of one that is not registered any more: %+v, %v", d, err)
	}
	repo.Delete(usAt)
	if _, err := (&Reader{Branches: At(repo)}).Artifact(t.Context(), in, "us"); !errors.Is(err, ErrUnpublished) {
		t.Errorf("of a branch that went meanwhile: %v", err)
	}
}

// TestAFailureIsNotNothing: a repository that fails while it is read is an error of the cluster, not one that is empty or unpublished.
func TestAFailureIsNotNothing(t *testing.T) {
	repo := twin.New("branches")
	root := held{"web": "1"}.root(t)
	repo.Write(euAt, publication("c1", "Cluster: eu"), root)
	repo.Write(shared, publication("c1", "Cluster: eu"), folders(map[string]*files.Folder{"eu": root}))
	repo.Write(shared, publication("c2", "Cluster: us"), folders(map[string]*files.Folder{"eu": root, "us": root}))
	for name, at := range map[string]render.Addresses{"a branch": {Prefix: "waybill/cluster/"}, "a folder": {Shared: shared}} {
		everyFailure(t, name, repo, func(c *counting) error {
			_, err := (&Reader{Branches: At(c)}).Artifact(t.Context(), desired(t, repo, at), "eu")
			if errors.Is(err, ErrUnpublished) {
				t.Errorf("%s: a failure is taken for nothing", name)
			}
			return err
		})
	}
}

// TestWhatFollows is newer, comes after what is being applied, and may be applied: a round that is at work stops for nothing else.
func TestWhatFollows(t *testing.T) {
	web := held{"web": "1"}
	for _, tt := range []struct {
		name string
		then func(w func(message string, root *files.Folder), repo *twin.Repo, branch string)
		want bool
	}{
		{"nothing", func(func(string, *files.Folder), *twin.Repo, string) {}, false},
		{"the next publication", func(w func(string, *files.Folder), _ *twin.Repo, _ string) {
			w(publication("c2", "Cluster: eu"), held{"web": "2"}.root(t))
		}, true},
		{"what somebody edited", func(w func(string, *files.Folder), _ *twin.Repo, _ string) {
			w("by hand", edited(web.root(t), "kustomization.yaml", "resources: []\n"))
		}, false},
		{"what is for another cluster", func(w func(string, *files.Folder), _ *twin.Repo, _ string) {
			w(publication("c2", "Cluster: us"), held{"web": "2"}.root(t))
		}, false},
		{"what was made anew", func(w func(string, *files.Folder), repo *twin.Repo, branch string) {
			repo.Delete(branch)
			w(publication("c2", "Cluster: eu"), held{"web": "2"}.root(t))
		}, false},
		{"nothing any more", func(_ func(string, *files.Folder), repo *twin.Repo, branch string) { repo.Delete(branch) }, false},
	} {
		for _, at := range []render.Addresses{{Prefix: "waybill/cluster/"}, {Shared: shared}} {
			repo := twin.New("branches")
			branch := at.Of("eu").Branch
			write := func(message string, root *files.Folder) {
				if at.Shared != "" {
					root = folders(map[string]*files.Folder{"eu": root})
				}
				repo.Write(branch, message, root)
			}
			write(publication("c1", "Cluster: eu"), web.root(t))
			r := &Reader{Branches: At(repo)}
			d, err := r.WithoutObjects(t.Context(), desired(t, repo, at), "eu")
			if err != nil {
				t.Fatal(err)
			}
			tt.then(write, repo, branch)
			now := desired(t, repo, at)
			if got := r.Follows(t.Context(), now, d); got != tt.want {
				t.Errorf("%s, %v: it follows: %v, want %v", tt.name, at, got, tt.want)
			}
			for n := 1; n < 10; n++ {
				c := &counting{Repo: repo, fails: n}
				if (&Reader{Branches: At(c)}).Follows(t.Context(), now, d) && c.n >= n {
					t.Errorf("%s, %v: where %s fails, it follows", tt.name, at, c.asked[n-1])
				}
			}
		}
	}
}

// TestTheFileOfServices is passed on as it is; one that is empty is another thing than none, by which all of a cluster's exports would end.
func TestTheFileOfServices(t *testing.T) {
	for _, tt := range []struct {
		name string
		data *string
		want []byte
	}{
		{"none", nil, nil}, {"a folder", new("/"), nil}, {"empty", new(string), []byte{}}, {"one", new("{}"), []byte("{}")},
	} {
		built := held{"web": "1"}.built(t)
		if tt.data != nil {
			e := files.FileEntry("waybill.services", files.NewBlob([]byte(*tt.data)))
			if *tt.data == "/" {
				e = files.DirEntry("waybill.services", held{"web": "1"}.built(t))
			}
			built = files.NewFolder(append(slices.Clone(built.Entries()), e))
		}
		repo := twin.New("branches")
		repo.Write(euAt, publication("c1", "Cluster: eu"), withMetadata(t, built))
		d, err := (&Reader{Branches: At(repo)}).WithoutObjects(t.Context(), desired(t, repo, render.Addresses{Prefix: "waybill/cluster/"}), "eu")
		if err != nil || (d.Services == nil) != (tt.want == nil) || string(d.Services) != string(tt.want) {
			t.Errorf("%s: %q, %v", tt.name, d.Services, err)
		}
	}
}

// TestWhatIsListedAndCannotBeRead: a tree that lacks a manifest which it lists, or has one that is none, is applied as a whole or not at all.
func TestWhatIsListedAndCannotBeRead(t *testing.T) {
	const file = "manifests/shop/configmap/web.yaml"
	lost := files.StoredBlob(files.Sum("blob", []byte("lost")), func(files.ID) ([]byte, error) { return nil, errBroken })
	for _, tt := range []struct {
		name string
		edit func(twin.Tree)
		want string
	}{
		{"a manifest that is not there", func(t twin.Tree) { delete(t, file) }, file + " is listed, and is not there"},
		{"a folder in its place", func(t twin.Tree) { delete(t, file); t[file+"/a"] = twin.File(nil) }, file + " is listed, and is not there"},
		{"a manifest that is none", func(t twin.Tree) { t[file] = twin.File([]byte("a: [\n")) }, "reading " + file},
		{"a manifest that cannot be had", func(t twin.Tree) { t[file] = files.FileEntry("", lost) }, errBroken.Error()},
		{"services that cannot be had", func(t twin.Tree) { t["waybill.services"] = files.FileEntry("", lost) }, errBroken.Error()},
		{"a list that cannot be had", func(t twin.Tree) { t["kustomization.yaml"] = files.FileEntry("", lost) }, errBroken.Error()},
	} {
		built := twin.Of(held{"api": "1", "web": "1"}.built(t))
		tt.edit(built)
		repo := twin.New("branches")
		repo.Write(euAt, publication("c1", "Cluster: eu"), withMetadata(t, built.Folder()))
		d, err := (&Reader{Branches: At(repo)}).Artifact(t.Context(), desired(t, repo, render.Addresses{Prefix: "waybill/cluster/"}), "eu")
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(d.Objects) > 0 {
			t.Errorf("%s: %v, with %d objects", tt.name, err, len(d.Objects))
		}
	}
}

// TestIdentitiesAreAskedForOnce a reading, and not at all where nothing is encrypted or nothing is to be applied.
func TestIdentitiesAreAskedForOnce(t *testing.T) {
	const sops = "sops:\n  mac: ENC[AES256_GCM,data:x]\n  version: 3.9.0\n"
	secret := func(sealed bool) *files.Folder {
		built := twin.Of(held{"api": "1", "web": "1"}.built(t))
		for path, e := range built {
			if data, err := e.Blob.Bytes(); err == nil && sealed && strings.HasPrefix(path, "manifests/") {
				built[path] = twin.File(append(append([]byte{}, data...), sops...))
			}
		}
		return withMetadata(t, built.Folder())
	}
	for _, tt := range []struct {
		name          string
		sealed, fails bool
		asked         int
	}{
		{"plain", false, false, 0}, {"encrypted", true, false, 1}, {"encrypted, and they cannot be had", true, true, 1},
	} {
		repo := twin.New("branches")
		repo.Write(euAt, publication("c1", "Cluster: eu"), secret(tt.sealed))
		asked := 0
		r := &Reader{Branches: At(repo), Identities: func(context.Context) (unseal.Identities, error) {
			asked++
			if tt.fails {
				return unseal.Identities{}, errBroken
			}
			return unseal.Identities{}, nil
		}}
		in := desired(t, repo, render.Addresses{Prefix: "waybill/cluster/"})
		if _, err := r.WithoutObjects(t.Context(), in, "eu"); err != nil || asked != 0 {
			t.Errorf("%s: without objects they are asked for %d times, %v", tt.name, asked, err)
		}
		if _, err := r.Artifact(t.Context(), in, "eu"); errors.Is(err, errBroken) != tt.fails || asked != tt.asked {
			t.Errorf("%s: they are asked for %d times, %v", tt.name, asked, err)
		}
	}
}

// TestWhatIsDecrypted is applied in plain, and is private. Ciphertext never is: not without the identity, and not where somebody encrypted
// of which kind the object is.
func TestWhatIsDecrypted(t *testing.T) {
	const anna = "AGE-SECRET-KEY-1Z6AX7297RMEN49XNLH5M2NVDXC2VF8CFW4TV9TVE686LZFRQUUQQSJJMSZ"
	const bruno = "AGE-SECRET-KEY-1KR3XH8EGEGQJ9H4VZMNX53L9CCH8T6QP9F9YJLYGS4A6T9HULVLQ2AFVMT"
	for _, tt := range []struct {
		name, file, identity, unfit string
		edit                        func(string) string
	}{
		{"by its identity", "encrypted-regex", anna, "", nil},
		{"by another one", "encrypted-regex", bruno, "--age-identity-file names a file with identities", nil},
		{"where somebody changed it", "encrypted-regex", anna, "cannot be decrypted", func(s string) string { return strings.Replace(s, "name: login", "name: logon", 1) }},
		{"where its kind is encrypted", "unencrypted-comment", anna, "is not valid", nil},
		{"where its version is encrypted", "unencrypted-suffix", anna, "is not valid", nil},
	} {
		data, err := os.ReadFile("../../render/seal/unseal/testdata/sops/" + tt.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if tt.edit != nil {
			data = []byte(tt.edit(string(data)))
		}
		keys, err := unseal.ParseIdentities([]byte(tt.identity))
		if err != nil {
			t.Fatal(err)
		}
		o, err := manifestOf("manifests/a.yaml", data, func() (unseal.Identities, error) { return keys, nil })
		if err != nil && tt.unfit == "is not valid" && strings.Contains(err.Error(), tt.unfit) && o.Manifest == nil {
			continue // it cannot be read at all
		}
		if err != nil || !o.Private || (o.Unfit == "") != (tt.unfit == "") || !strings.Contains(o.Unfit, tt.unfit) {
			t.Errorf("%s: private %v, unfit because %q, %v", tt.name, o.Private, o.Unfit, err)
		}
		if _, isPlain := o.Manifest["sops"]; isPlain != (tt.unfit != "") {
			t.Errorf("%s: it is %v", tt.name, o.Manifest)
		}
	}
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\n"
	if o, err := manifestOf("manifests/a.yaml", []byte(deployment), nil); err != nil || o.Ref.String() != "Deployment.apps/shop/web" || o.APIVersion != "apps/v1" {
		t.Errorf("an object of a group is %s of %s, %v", o.Ref, o.APIVersion, err)
	}
}
