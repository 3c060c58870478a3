package plan

// part says which release a template is part of, and what it says where.
type part struct {
	release  *template
	variants []variant
	of       map[string]int // by cluster: the variant; absent where the release lacks it
}
