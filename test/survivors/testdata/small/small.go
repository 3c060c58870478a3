// Package small has a test that does not notice each bug, nor come to each.
package small

import "errors"

// Gift says that something is one.
type Gift bool

// Price is what so many cost.
func Price(count, each int, isGift Gift) (int, error) {
	if count < 0 || each < 0 {
		return 0, errors.New("negative")
	}
	sum := count * each
	if count >= 10 {
		if !isGift {
			sum -= each
		}
	}
	if sum > 1000 {
		sum = 1000
	}
	return sum, nil
}
