package git

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

// sshTransport prepares SSH with a key or the agent. Host keys are always checked: an
// unknown host is refused, never remembered.
func sshTransport(a address, auth Auth) (transport.Transport, transport.AuthMethod, error) {
	var known []string
	if auth.KnownHosts != "" {
		known = []string{auth.KnownHosts}
	}
	db, err := gitssh.NewKnownHostsDb(known...)
	if err != nil {
		return nil, nil, fmt.Errorf("reading known hosts for SSH: %w; give a known_hosts file that has the host (ssh-keyscan %s)", err, a.endpoint.Host)
	}
	port := a.endpoint.Port
	if port == 0 {
		port = gitssh.DefaultPort
	}
	check := gitssh.HostKeyCallbackHelper{
		HostKeyCallback:   db.HostKeyCallback(),
		HostKeyAlgorithms: db.HostKeyAlgorithms(net.JoinHostPort(a.endpoint.Host, strconv.Itoa(port))),
	}
	user := a.user
	if user == "" {
		user = auth.Username
	}
	if user == "" {
		user = gitssh.DefaultUsername
	}
	if auth.SSHKey == "" {
		agent, err := gitssh.NewSSHAgentAuth(user)
		if err != nil {
			return nil, nil, errors.New("there is no SSH key and no SSH agent; give the file of a private key")
		}
		agent.HostKeyCallbackHelper = check
		return gitssh.DefaultClient, agent, nil
	}
	pem, err := os.ReadFile(auth.SSHKey)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the SSH key: %w", err)
	}
	key, err := gitssh.NewPublicKeys(user, pem, auth.Passphrase)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the SSH key %s: %w; check the passphrase", auth.SSHKey, err)
	}
	key.HostKeyCallbackHelper = check
	return gitssh.DefaultClient, key, nil
}
