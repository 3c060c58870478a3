package services

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Booked are services that each of some clusters exports by its book, as namespace/name. A cluster is among those of one.
type Booked struct {
	Clusters []string `json:"clusters"`
	Services []string `json:"services"`
}

// BookedBy are the services that clusters export by their books; nil where nobody says.
func BookedBy(all []Booked) map[string]map[types.NamespacedName]bool {
	if all == nil {
		return nil
	}
	by := map[string]map[types.NamespacedName]bool{}
	for _, b := range all {
		of := map[types.NamespacedName]bool{}
		for _, s := range b.Services {
			namespace, name, _ := strings.Cut(s, "/")
			of[types.NamespacedName{Namespace: namespace, Name: name}] = true
		}
		for _, c := range b.Clusters {
			by[c] = of
		}
	}
	return by
}

// Booked is the service that a line exports by a book, as namespace/name; empty for another line.
func (l *Line) Booked() string {
	if !l.book {
		return ""
	}
	return l.namespace + "/" + l.service
}
