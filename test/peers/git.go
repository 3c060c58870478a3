package peers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi" //nolint:gosec // the versions that were unsafe are long gone
	"os/exec"
	"path/filepath"
	"strings"
)

// GitServer is Git's own server over the repositories in a folder. Whoever asks may read and
// write.
func GitServer(ctx context.Context, dir string) (http.Handler, error) {
	path, err := exec.CommandContext(ctx, "git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("asking git where its programs are: %w", err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Root: "/", Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=robot", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}, nil
}
