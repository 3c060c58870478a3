package chart

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Versions asks which versions of a chart its repository has, in its order and as it calls them, whatever the
// constraint of the reference. What is no full version is left out. Of a chart in a registry they are its tags. A host
// that may not be asked is an *egress.HostError.
func (s *Store) Versions(ctx context.Context, ref lock.Ref) ([]string, error) {
	if err := ref.Validate(); err != nil {
		return nil, fmt.Errorf("listing the versions of the chart %s: %w", ref.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	list := s.versionsHelm
	if ref.Kind == lock.OCI {
		list = s.versionsOCI
	}
	all, err := list(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of the chart %s/%s: %w", ref.Repository, ref.Name, err)
	}
	var full []string
	for _, v := range all {
		if lock.IsVersion(v) {
			full = append(full, v)
		}
	}
	return full, nil
}

func (s *Store) versionsHelm(ctx context.Context, ref lock.Ref) ([]string, error) {
	index := strings.TrimRight(ref.Repository, "/") + "/index.yaml"
	data, err := s.get(ctx, index, maxIndex)
	if err != nil {
		return nil, err
	}
	offers, err := readIndex(data, ref.Name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", index, err)
	}
	versions := make([]string, 0, len(offers))
	for _, o := range offers {
		versions = append(versions, o.Version)
	}
	return versions, nil
}

func (s *Store) versionsOCI(ctx context.Context, ref lock.Ref) ([]string, error) {
	r, err := s.registry(ref)
	if err != nil {
		return nil, err
	}
	tags, err := r.puller.List(ctx, r.name)
	if err != nil {
		return nil, egress.Clean(err)
	}
	versions := make([]string, 0, len(tags))
	for _, t := range tags {
		versions = append(versions, versionTag(t))
	}
	return versions, nil
}
