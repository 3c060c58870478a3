package endpoints

// Failure is what failed last, as it was said; empty: nothing did.
type Failure string

// Becomes notes what fails now, nil for nothing, and reports whether that is something else than what was said.
func (f *Failure) Becomes(err error) bool {
	was := *f
	if *f = ""; err != nil {
		*f = Failure(err.Error())
	}
	return *f != was
}
