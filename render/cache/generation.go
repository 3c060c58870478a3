package cache

// Generation is a map that forgets what a whole turn did not ask for. The zero value is
// empty and ready. It is not safe for concurrent use. Whoever uses it keeps nothing in it
// that is not a function of its key.
type Generation[K comparable, V any] struct{ now, before map[K]V }

// Get returns the value of a key, which this turn then keeps.
func (g *Generation[K, V]) Get(k K) (V, bool) {
	v, ok := g.now[k]
	if !ok {
		if v, ok = g.before[k]; ok {
			g.Put(k, v)
		}
	}
	return v, ok
}

// Put sets the value of a key.
func (g *Generation[K, V]) Put(k K, v V) {
	if g.now == nil {
		g.now = map[K]V{}
	}
	g.now[k] = v
}

// Or returns the value of a key; where there is none, it is made and kept.
func (g *Generation[K, V]) Or(k K, made func() V) V {
	v, ok := g.Get(k)
	if !ok {
		v = made()
		g.Put(k, v)
	}
	return v
}

// Turn begins the next turn.
func (g *Generation[K, V]) Turn() { g.before, g.now = g.now, make(map[K]V, len(g.now)) }
