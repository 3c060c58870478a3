// Command loop applies a folder of manifests by a bare loop of concurrent server-side applies:
// what an applier cannot be faster than. It is what waybill apply is measured against.
//
//	loop KUBECONFIG FOLDER
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	sigsyaml "sigs.k8s.io/yaml"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, folder string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(disco)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	stages, err := read(folder)
	for _, stage := range stages {
		var group errgroup.Group
		const workers = 16
		group.SetLimit(workers)
		for _, u := range stage {
			group.Go(func() error {
				m, err := mapper.RESTMapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
				if err != nil {
					return err
				}
				_, err = client.Resource(m.Resource).Namespace(u.GetNamespace()).Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "loop", Force: true})
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return err
}

// read reads the manifests of a folder: Namespaces, then what is in them.
func read(folder string) ([2][]*unstructured.Unstructured, error) {
	var stages [2][]*unstructured.Unstructured
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // of the test
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{}
		if err := sigsyaml.Unmarshal(data, &u.Object); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		stage := 1
		if u.GetKind() == "Namespace" {
			stage = 0
		}
		stages[stage] = append(stages[stage], u)
		return nil
	})
	return stages, err
}
