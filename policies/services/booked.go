package services

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Booked are services that each of some clusters exports by its book, as namespace/name.
type Booked struct {
	Clusters []string `json:"clusters"`
	Services []string `json:"services"`
}

// BookedOf are the services that a cluster exports by its book; none where it has no book. Nil: nobody says of any cluster.
func BookedOf(all []Booked, cluster string) map[types.NamespacedName]bool {
	if all == nil {
		return nil
	}
	of := map[types.NamespacedName]bool{}
	for _, b := range all {
		for _, c := range b.Clusters {
			if c != cluster {
				continue
			}
			for _, s := range b.Services {
				namespace, name, _ := strings.Cut(s, "/")
				of[types.NamespacedName{Namespace: namespace, Name: name}] = true
			}
		}
	}
	return of
}

// Booked is the service that a line exports by a book, as namespace/name; empty for another line.
func (l *Line) Booked() string {
	if !l.book || l.imports {
		return ""
	}
	return l.namespace + "/" + l.service
}
