// Package untested has no test.
package untested

// IsOdd reports an odd number.
func IsOdd(n int) bool { return n%2 == 1 }
