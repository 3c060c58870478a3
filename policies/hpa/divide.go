// Package hpa makes of a FederatedHPA the HorizontalPodAutoscaler of each cluster: bounds, rates and shared
// metrics divided by the weights of the clusters. Nobody sums metrics up over clusters: each HorizontalPodAutoscaler
// goes on when there is no control plane, and that is what differs from Karmada (section E.5 of docs/karmada.md).
package hpa

import (
	"math/bits"

	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/scale"
)

// Share is what a cluster has of a FederatedHPA.
type Share struct {
	scale.Bounds

	// Weight is that of the cluster, of All, which is that of all clusters with a share. They are 1 where nothing is
	// divided.
	Weight, All int64
}

// Whole is the share of a cluster where nothing is divided.
func Whole(b scale.Bounds) Share { return Share{Bounds: b, Weight: 1, All: 1} }

// Divide divides bounds by weights. Both come from one growing sequence (place.Grow), so that a cluster's least is never above
// its most. No least is below 1, which is the least that a HorizontalPodAutoscaler has: with a smaller least than clusters the sum is their
// number. A cluster for which the most has no replica has no share.
func Divide(b scale.Bounds, weights []place.Weight) map[string]Share {
	shares := map[string]Share{}
	all := int64(0)
	for _, s := range place.Grow(int64(b.Max), weights) {
		if s.Seats > 0 {
			shares[s.Name] = Share{Bounds: scale.Bounds{Max: int32(s.Seats)}} //nolint:gosec // no more than Max
		}
	}
	for _, s := range place.Grow(max(int64(b.Min), int64(len(shares))), weights) {
		if share, ok := shares[s.Name]; ok {
			share.Min = int32(s.Seats) //nolint:gosec // no more than its Max
			shares[s.Name] = share
		}
	}
	for _, w := range weights {
		if share, ok := shares[w.Name]; ok {
			share.Weight = min(w.Weight, place.MaxWeight)
			shares[w.Name] = share
			all += share.Weight
		}
	}
	for name, share := range shares {
		share.All = all
		shares[name] = share
	}
	return shares
}

// of is the part of a number that a share has, to the nearest whole one, and at least 1.
func (s Share) of(n int32) int32 {
	high, low := bits.Mul64(2*uint64(max(n, 0)), uint64(s.Weight)) //nolint:gosec // no weight is negative
	low, carry := bits.Add64(low, uint64(s.All), 0)                //nolint:gosec // nor is their sum
	part, _ := bits.Div64(high+carry, low, 2*uint64(s.All))        //nolint:gosec // nor is their sum
	return int32(max(part, 1))                                     //nolint:gosec // no more than n, or 1
}
