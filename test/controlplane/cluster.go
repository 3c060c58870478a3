package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Token is how an administrator logs in to every cluster.
const Token = "for-the-test"

// RobotToken is how one logs in who may do everything, too, and whom audit logs tell apart: Robot.
const (
	RobotToken = "for-the-robot"
	Robot      = "robot"
)

// The tokens of a cluster's own parts.
const (
	managerToken   = "for-the-controller-manager"
	schedulerToken = "for-the-scheduler"
)

// StartEtcd starts etcd, and returns where it is.
func (p Programs) StartEtcd(dir string) (process *Process, url string, err error) {
	client, err := Port()
	if err != nil {
		return nil, "", err
	}
	peer, err := Port()
	if err != nil {
		return nil, "", err
	}
	url, peer = "http://127.0.0.1:"+client, "http://127.0.0.1:"+peer
	process, err = Run(dir, p.Path("etcd"), nil, "--name", "e", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "e="+peer, "--unsafe-no-fsync", "--log-level", "warn",
		"--quota-backend-bytes", "2147483648")
	return process, url, err
}

// Cluster is a cluster that runs.
type Cluster struct {
	URL        string
	Authority  string // path of the certificate that signs the server's
	Kubeconfig string // path, for an administrator
	Robots     string // path, for the one whom audit logs tell apart
	APIServer  *Process

	programs Programs
	dir      string
	parts    []*Process
	events   string // where notification-controller is told; empty without it
}

// BrokenImage is an image that no node can pull.
const BrokenImage = "broken"

// Start starts a cluster with so many nodes in a part of an etcd. What it is started with lies
// in dir, by whose name it is known to etcd. One without nodes is an API server and nothing
// else: no controller acts on what it holds. Flags are more of those of the API server, see Audited.
func (p Programs) Start(ctx context.Context, etcd, dir string, nodes int, flags ...string) (*Cluster, error) {
	if err := os.MkdirAll(dir, privateFolder); err != nil {
		return nil, err
	}
	if err := writeKeys(dir); err != nil {
		return nil, err
	}
	secure, err := Port()
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	tokens := fmt.Sprintf("%s,admin,admin,\"system:masters\"\n%s,%s,robot,\"system:masters\"\n%s,system:kube-controller-manager,manager\n%s,system:kube-scheduler,scheduler\n",
		Token, RobotToken, Robot, managerToken, schedulerToken)
	if err := os.WriteFile(in("tokens.csv"), []byte(tokens), private); err != nil {
		return nil, err
	}
	c := &Cluster{URL: "https://127.0.0.1:" + secure, Authority: in("server.crt"), Kubeconfig: in("kubeconfig"), Robots: in(Robot), programs: p, dir: dir}
	off := "ServiceAccount" // nobody makes them
	if nodes > 0 {
		off = "TaintNodesByCondition" // nobody would take the taint of a new node away
	}
	if c.APIServer, err = Run(dir, p.Path("kube-apiserver"), nil, append(flags, "--etcd-servers="+etcd, "--etcd-prefix=/"+filepath.Base(dir), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+secure,
		"--endpoint-reconciler-type=none", "--tls-cert-file="+in("server.crt"), "--tls-private-key-file="+in("server.key"), "--client-ca-file="+in("server.crt"), "--token-auth-file="+in("tokens.csv"),
		"--authorization-mode=RBAC", "--allow-privileged=true", "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+in("accounts.key"),
		"--service-account-signing-key-file="+in("accounts.key"), "--service-cluster-ip-range=10.96.0.0/16", "--profiling=false", "--disable-admission-plugins="+off)...); err != nil {
		return nil, err
	}
	for name, token := range map[string]string{"kubeconfig": Token, Robot: RobotToken} {
		if err := c.writeKubeconfig(name, token); err != nil {
			return c, err
		}
	}
	if err := c.Ready(ctx); err != nil || nodes == 0 {
		return c, err
	}
	return c, c.live(nodes)
}

// Ready waits until the API server answers.
func (c *Cluster) Ready(ctx context.Context) error {
	pem, err := os.ReadFile(c.Authority)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	return until("the API server of "+filepath.Base(c.dir)+" is ready", c.APIServer, func() (bool, string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/readyz", nil)
		if err != nil {
			return false, err.Error()
		}
		req.Header.Set("Authorization", "Bearer "+Token)
		resp, err := client.Do(req)
		if err != nil {
			return false, err.Error()
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK, resp.Status
	})
}

// Stop stops the cluster.
func (c *Cluster) Stop() {
	for _, p := range c.parts {
		p.Stop()
	}
	c.APIServer.Stop()
}

// Processes are those that the cluster consists of.
func (c *Cluster) Processes() []*Process { return append([]*Process{c.APIServer}, c.parts...) }

func (c *Cluster) writeKubeconfig(name, token string) error {
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q, certificate-authority: %s}}]\n"+
		"users: [{name: u, user: {token: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", c.URL, c.Authority, token)
	return os.WriteFile(filepath.Join(c.dir, name), []byte(config), private)
}

// controllers are those that make of objects what people expect of them. None watches the
// health of nodes.
const controllers = "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,cronjob-controller," +
	"namespace-controller,garbage-collector-controller,endpointslice-controller,endpoints-controller,serviceaccount-controller,serviceaccount-token-controller," +
	"root-ca-certificate-publisher-controller,disruption-controller,clusterrole-aggregation-controller,pod-garbage-collector-controller," +
	"resourcequota-controller,ttl-after-finished-controller,horizontal-pod-autoscaler-controller"

// noImage is how a pod fares of which an image has "broken" in its name: it cannot be pulled. It has a weight, which
// the other stages have not, so that the pod never becomes ready; and no time, so that it is written once.
const noImage = `---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-image-pull-back-off}
spec:
  weight: 1
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
    - {key: '.spec.containers[].image | select(test("broken"))', operator: Exists}
  next:
    statusTemplate: |
      containerStatuses:
      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
        imageID: ""
        name: {{ .name | Quote }}
        ready: false
        restartCount: 0
        state: {waiting: {reason: ImagePullBackOff, message: {{ printf "Back-off pulling image %q" .image | Quote }}}}
      {{ end }}
      phase: Pending
`

// live starts what brings a cluster to life, and waits until its nodes are ready and pods can
// be made.
func (c *Cluster) live(nodes int) error {
	in := func(name string) string { return filepath.Join(c.dir, name) }
	for name, token := range map[string]string{"manager": managerToken, "scheduler": schedulerToken} {
		if err := c.writeKubeconfig(name, token); err != nil {
			return err
		}
	}
	stages, err := exec.Command(c.programs.Path("kwok-stages")).Output() //nolint:gosec,noctx // a part of a cluster
	if err == nil {
		err = os.WriteFile(in("stages.yaml"), append(stages, noImage...), private)
	}
	if err != nil {
		return err
	}
	for _, part := range [][]string{
		{
			"kube-controller-manager", "--kubeconfig=" + in("manager"), "--use-service-account-credentials=true", "--secure-port=0", "--leader-elect=false", "--profiling=false",
			"--kube-api-qps=200", "--kube-api-burst=400", "--service-account-private-key-file=" + in("accounts.key"), "--root-ca-file=" + c.Authority, "--controllers=" + controllers,
		},
		{"kube-scheduler", "--kubeconfig=" + in("scheduler"), "--secure-port=0", "--leader-elect=false", "--profiling=false"},
		{"kwok", "--config=" + in("stages.yaml"), "--kubeconfig=" + c.Kubeconfig, "--manage-all-nodes=true", "--server-address="},
	} {
		p, err := Run(c.dir, c.programs.Path(part[0]), []string{"HOME=" + c.dir}, part[1:]...)
		if err != nil {
			return err
		}
		c.parts = append(c.parts, p)
	}
	if err := c.addNodes(nodes); err != nil {
		return err
	}
	return until("the nodes of "+filepath.Base(c.dir)+" are ready", c.APIServer, func() (bool, string) {
		out, err := c.Kubectl("", "get", "nodes", "-o", `jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{" "}{end}`)
		if err != nil || strings.Count(out, "True") != nodes {
			return false, fmt.Sprintf("%s %v", out, err)
		}
		out, err = c.Kubectl("", "get", "serviceaccount", "-n", "default", "default")
		return err == nil, out
	})
}

func (c *Cluster) addNodes(nodes int) error {
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, `---
apiVersion: v1
kind: Node
metadata:
  name: node-%[1]d
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/hostname: node-%[1]d, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
spec: {podCIDR: 10.100.%[1]d.0/24}
status:
  allocatable: {cpu: "64", memory: 256Gi, pods: "1000"}
  capacity: {cpu: "64", memory: 256Gi, pods: "1000"}
`, i)
	}
	out, err := c.Kubectl(b.String(), "create", "-f", "-")
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// KubectlCommand is kubectl, which ends with a context.
func (c *Cluster) KubectlCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.programs.Path("kubectl"), args...) //nolint:gosec // the caller says what
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	return cmd
}

// Kubectl runs kubectl with an input, and returns all that it printed.
func (c *Cluster) Kubectl(input string, args ...string) (string, error) {
	cmd := exec.Command(c.programs.Path("kubectl"), args...) //nolint:gosec,noctx // the caller says what
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
