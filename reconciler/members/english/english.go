// Package english has kubectl's libraries say what they say in English, as everything else here
// is said. They would read a catalogue of translations whenever this program starts, which takes
// longer than all the rest of the start.
//
// It has to be initialised before any package that translates. It is so because it imports
// nothing but what it sets: of the packages that are ready Go initialises the one whose path
// sorts first, and this one's sorts before theirs.
package english

import "k8s.io/kubectl/pkg/util/i18n"

// errLate says that something was translated before.
var errLate = i18n.SetLoadTranslationsFunc(func() error { return nil })

// Late returns an error if translations were loaded before they could be left out.
func Late() error { return errLate }
