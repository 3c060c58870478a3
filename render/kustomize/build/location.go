package build

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// remoteForm matches, without regard to case, what kustomize takes for a place
// outside the file system even where a file of that name exists: for its HTTP client
// whatever has that scheme, for git what has a scheme it knows, names a user and a
// host, or begins with github.com. It matches more than kustomize accepts (forms that
// older versions fetched, any scheme with an authority), never less.
var remoteForm = regexp.MustCompile(`(?i)^(git::|gh:|https?:|ssh:|file:|github\.com[/:]|[a-z][a-z0-9-]*@[^/]*[:/]|[a-z][a-z0-9+.-]*://)`)

// The reasons why a location is refused.
var (
	errRemote   = errors.New("names a place outside the repository, which no build may reach")
	errAbsolute = errors.New("is an absolute path")
	errLeaves   = errors.New("leaves the repository")
	errMissing  = errors.New("names no file or folder of the repository")
	errNoFile   = errors.New("is a folder; it must name a file")
	errNoFolder = errors.New("is a file; it must name a folder with a kustomization")
	errSpecial  = errors.New("is a symbolic link or a submodule, which is not followed")
	errText     = errors.New("is neither a path nor YAML that can be read")
)

// hint says what to do about a location that is refused.
func hint(reason error) string {
	switch {
	case errors.Is(reason, errRemote), errors.Is(reason, errSpecial):
		return "copy what it names into the repository and name it by a relative path"
	case errors.Is(reason, errAbsolute), errors.Is(reason, errMissing):
		return "paths are relative to the folder of the kustomization"
	case errors.Is(reason, errLeaves):
		return "copy what it names into the repository"
	default:
		return ""
	}
}

// resolve returns the path inside the file system of a location that stands in a
// kustomization of dir, and whether it is a folder. What is no existing file or folder
// of the file system is refused, however it is written.
func (v *view) resolve(dir, location string) (name string, isDir bool, err error) {
	switch {
	case remoteForm.MatchString(location):
		return "", false, errRemote
	case path.IsAbs(location):
		return "", false, errAbsolute
	case strings.ContainsAny(location, "\n\x00"):
		return "", false, errText
	case location == "":
		return "", false, errMissing
	}
	name = path.Join(dir, location)
	if !fs.ValidPath(name) {
		return "", false, errLeaves
	}
	isDir, err = v.kindOf(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errMissing
	}
	return name, isDir, err
}
