package worker

import (
	"context"
	"fmt"
	"strings"
)

// Wall is one thing that shuts a child in: a layer, or an attempt to get out that was
// made and that failed.
type Wall struct {
	Name   string `json:"name"`             // such as "user namespace", "try: TCP"
	Up     bool   `json:"up"`               // the layer is there; the attempt failed
	Detail string `json:"detail,omitempty"` // why not, or how
}

// tryPrefix begins the names of walls that are attempts.
const tryPrefix = "try: "

// The names of the layers of which at least one must be up for untrusted input.
const (
	userNamespace = "user namespace"
	landlockWall  = "Landlock"
)

// report is what a child says of its walls.
type report struct {
	Walls []Wall
	// Namespaces are the child's, by kind, as the kernel names them. That they differ
	// from the parent's is for the parent to see.
	Namespaces map[string]string
}

// Walls starts a child, has it try its walls, and says which are up. The error is that
// of a child that cannot be started; that walls are missing is none.
func Walls(ctx context.Context, o Options) ([]Wall, error) {
	o.Trust = Trusted
	p, err := (&launcher{Options: o.withDefaults()}).start(ctx)
	if err != nil {
		return nil, err
	}
	p.end()
	return p.walls, nil
}

// Enough reports that walls are enough for what strangers wrote.
func Enough(walls []Wall) bool {
	layered, tries := false, 0
	for _, w := range walls {
		if strings.HasPrefix(w.Name, tryPrefix) {
			if !w.Up {
				return false
			}
			tries++
		} else if w.Name == userNamespace || w.Name == landlockWall {
			layered = layered || w.Up
		}
	}
	return layered && tries > 0
}

// missing returns the walls that are not up.
func missing(walls []Wall) []Wall {
	var list []Wall
	for _, w := range walls {
		if !w.Up {
			list = append(list, w)
		}
	}
	return list
}

// noSandbox is the error for want of walls.
func noSandbox(walls []Wall) error {
	var names []string
	for _, w := range missing(walls) {
		names = append(names, fmt.Sprintf("%s (%s)", w.Name, w.Detail))
	}
	return fmt.Errorf("%w: missing are %s", ErrNoSandbox, strings.Join(names, ", "))
}
