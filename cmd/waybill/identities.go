package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/waybill-dev/waybill/cmd/waybill/private"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/render/seal/unseal"
)

const (
	identityFlag   = "age-identity-file"
	sopsSecretFlag = "sops-secret"
	// identitySuffix ends the keys of a Secret that hold identities, as Flux has it.
	identitySuffix = ".agekey"
)

// ask returns identities, as they are now.
type ask = func(context.Context) (unseal.Identities, error)

// identityFlags adds the flags that name identities, and returns what reads the file of them,
// which is not to be in the source at a path.
func identityFlags(cmd *cobra.Command, access *clusters.Access, usage string) func(path string) (ask, error) {
	file := cmd.Flags().String(identityFlag, "", usage)
	secret := cmd.Flags().String(sopsSecretFlag, "sops-age", "Secret beside those of --cluster-secrets-namespace whose keys that end in "+identitySuffix+" hold identities of age, too; empty for none")
	return func(path string) (ask, error) {
		var of unseal.Identities
		if *file != "" {
			if err := private.Outside(identityFlag, *file, path); err != nil {
				return nil, err
			}
			text, err := private.Read(identityFlag, *file)
			if err != nil {
				return nil, err
			}
			if of, err = unseal.ParseIdentities(text); err != nil {
				return nil, fmt.Errorf("reading --%s: %s: %w; make one: age-keygen -o %s", identityFlag, *file, err, *file)
			}
		}
		return func(ctx context.Context) (unseal.Identities, error) {
			more, err := secretIdentities(ctx, access.Secrets, *secret)
			return of.With(more), err
		}, nil
	}
}

// secretIdentities reads the identities of a Secret. There may be no such Secret.
func secretIdentities(ctx context.Context, find func() (clusters.Secrets, error), name string) (all unseal.Identities, err error) {
	if name == "" {
		return all, nil
	}
	secrets, err := find()
	if err != nil || secrets == nil {
		return all, err
	}
	data, err := secrets.Secret(ctx, name)
	if apierrors.IsNotFound(err) {
		return all, nil
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasSuffix(key, identitySuffix) {
			continue
		}
		of, err := unseal.ParseIdentities(data[key])
		if err != nil {
			return all, fmt.Errorf("reading the Secret %s/%s: %s: %w", secrets.In(), name, key, err)
		}
		all = all.With(of)
	}
	return all, err
}
