// Command release makes what is released of a commit: for each platform an archive and a list of what
// is in the program, an image for Linux, and the checksums of all. Equal commits and an equal version
// of Go give equal bytes: everything is built from a clone of the commit, files have its time, and no
// folder, user or clock of this machine gets in.
//
//	go run ./test/release -out dist
//
// The image is made by go-containerregistry, which Waybill has for charts in registries anyway: no
// engine and no base image are needed, since the program is static and brings its authorities for TLS.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("out", "dist", "folder to write to; it is made anew")
	commit := flag.String("commit", "HEAD", "what is released")
	only := flag.String("platforms", "", "for these only, as linux/amd64,darwin/arm64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := release(ctx, ".", *commit, *out, platformsOf(*only)); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// platform is what a program is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// platforms are those of a release.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// platformsOf reads a list; without one it is every platform.
func platformsOf(list string) []platform {
	if list == "" {
		return platforms
	}
	var found []platform
	for word := range strings.SplitSeq(list, ",") {
		system, arch, _ := strings.Cut(word, "/")
		found = append(found, platform{system, arch})
	}
	return found
}

// release writes everything of a commit of the repository at root to a folder.
func release(ctx context.Context, root, commit, out string, wanted []platform) error {
	work, err := os.MkdirTemp("", "waybill-release-")
	if err != nil {
		return fmt.Errorf("making a folder to build in: %w", err)
	}
	defer os.RemoveAll(work)
	s, err := clone(ctx, root, commit, filepath.Join(work, "source"))
	if err != nil {
		return err
	}
	if err := anew(out); err != nil {
		return err
	}
	man, err := s.manual(ctx, work)
	if err != nil {
		return err
	}
	var images []program
	for _, p := range wanted {
		built, err := s.build(ctx, p, filepath.Join(work, p.os+"-"+p.arch))
		if err != nil {
			return err
		}
		if err := s.write(built, man, out); err != nil {
			return err
		}
		if p.os == "linux" {
			images = append(images, built)
		}
	}
	if len(images) > 0 {
		if err := s.image(images, work, filepath.Join(out, "waybill_"+images[0].version()+"_image.tar")); err != nil {
			return err
		}
	}
	return checksums(out)
}

// write adds the archive of a program, and the list of what is in it.
func (s source) write(p program, man []member, out string) error {
	name := fmt.Sprintf("waybill_%s_%s_%s", p.version(), p.platform.os, p.platform.arch)
	members := slices.Clone(man)
	for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			return fmt.Errorf("reading what goes along: %w", err)
		}
		members = append(members, member{name: file, data: data})
	}
	binary := "waybill"
	if p.platform.os == "windows" {
		binary += ".exe"
	}
	members = append(members, member{name: binary, data: p.data, runs: true})
	packed, err := archive(members, s.time)
	if err != nil {
		return err
	}
	bill, err := materials(p, s.time)
	if err != nil {
		return err
	}
	for file, data := range map[string][]byte{name + ".tar.gz": packed, name + ".cdx.json": bill} {
		if err := os.WriteFile(filepath.Join(out, file), data, 0o644); err != nil {
			return fmt.Errorf("writing a release: %w", err)
		}
	}
	return nil
}

// anew makes an empty folder. One that holds what no release wrote is left alone.
func anew(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("looking into %s: %w", out, err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "waybill_") && e.Name() != sums {
			return fmt.Errorf("%s holds %s, which no release wrote; name another folder with -out", out, e.Name())
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("emptying %s: %w", out, err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("making %s: %w", out, err)
	}
	return nil
}
