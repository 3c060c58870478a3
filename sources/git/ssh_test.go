package git

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
)

// newKey writes a private key and returns its file.
func newKey(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sshServer runs git for whoever logs in with a key, and counts logins.
type sshServer struct {
	addr   string
	host   ssh.PublicKey
	logins atomic.Int64
}

func newSSHServer(t *testing.T) *sshServer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	s := &sshServer{host: signer.PublicKey()}
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
		s.logins.Add(1)
		return nil, nil
	}}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s.addr = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config)
		}
	}()
	return s
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		for req := range requests {
			_ = req.Reply(req.Type == "exec", nil)
			if req.Type != "exec" {
				continue
			}
			cmd := exec.Command("sh", "-c", string(req.Payload[4:]))
			cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
			stdin, _ := cmd.StdinPipe()
			if cmd.Start() == nil {
				go func() {
					buf := make([]byte, 32<<10)
					for {
						n, err := channel.Read(buf)
						if _, werr := stdin.Write(buf[:n]); err != nil || werr != nil {
							stdin.Close()
							return
						}
					}
				}()
				_ = cmd.Wait()
			}
			_, _ = channel.SendRequest("exit-status", false, []byte{0, 0, 0, byte(cmd.ProcessState.ExitCode())})
			_ = channel.Close()
		}
	}
}

func (s *sshServer) knownHosts(t *testing.T, key ssh.PublicKey) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.addr)
	path := filepath.Join(t.TempDir(), "known_hosts")
	line := fmt.Sprintf("[%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(key))
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSSH(t *testing.T) {
	s, dir := newSSHServer(t), newBare(t)
	cache := t.TempDir()
	auth := Auth{SSHKey: newKey(t), Passphrase: secret, KnownHosts: s.knownHosts(t, s.host)}
	location := "ssh://git@" + s.addr + dir
	for n := range 2 {
		r := mustOpen(t, Options{Location: location, CacheDir: cache, Auth: auth})
		heads, err := r.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustPublish(t, r, update("a", heads["a"], map[string]string{"f": strconv.Itoa(n)}))
		if got, err := text(t.Context(), mustOpen(t, Options{Location: location, CacheDir: t.TempDir(), Auth: auth}), "a", "f"); got != strconv.Itoa(n) || err != nil {
			t.Errorf("file = %q, %v", got, err)
		}
	}
	sound(t, dir)
	t.Run("a host with another key is not logged in to", func(t *testing.T) {
		before := s.logins.Load()
		other := newSSHServer(t)
		auth := auth
		auth.KnownHosts = s.knownHosts(t, other.host)
		_, err := mustOpen(t, Options{Location: location, CacheDir: t.TempDir(), Auth: auth}).Heads(t.Context())
		if err == nil || s.logins.Load() != before {
			t.Errorf("error %v, and %d logins", err, s.logins.Load()-before)
		}
		noSecret(t, err, cache)
	})
	t.Run("a host that is not known is not logged in to", func(t *testing.T) {
		before := s.logins.Load()
		auth := auth
		auth.KnownHosts = filepath.Join(t.TempDir(), "empty")
		if err := os.WriteFile(auth.KnownHosts, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := mustOpen(t, Options{Location: location, CacheDir: t.TempDir(), Auth: auth}).Heads(t.Context())
		if err == nil || s.logins.Load() != before {
			t.Errorf("error %v, and %d logins", err, s.logins.Load()-before)
		}
	})
	t.Run("without known hosts it does not open", func(t *testing.T) {
		auth := auth
		auth.KnownHosts = filepath.Join(t.TempDir(), "none")
		_, err := Open(t.Context(), Options{Location: location, CacheDir: t.TempDir(), Auth: auth})
		if err == nil || !strings.Contains(err.Error(), "known_hosts") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a wrong passphrase is said and not shown", func(t *testing.T) {
		auth := auth
		auth.Passphrase = secret + "x"
		_, err := Open(t.Context(), Options{Location: location, CacheDir: t.TempDir(), Auth: auth})
		if err == nil || !strings.Contains(err.Error(), "passphrase") {
			t.Errorf("error %v", err)
		}
		noSecret(t, err, cache)
	})
}
