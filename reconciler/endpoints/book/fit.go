package book

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

// Fit is what a book says of services: what they have, and of one that has more than it may what was said before. The error names those,
// and what was left out because there is no room for it.
func Fit(has, before endpoints.Services) (endpoints.Services, error) {
	fits, left := endpoints.Services{}, mostTogether
	var errs []error
	for _, of := range slices.SortedFunc(maps.Keys(has), endpoints.CompareNames) {
		is := has[of]
		size, err := measure(is)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", of, err))
			was, known := before[of]
			if size, err = measure(was); !known || err != nil {
				continue
			}
			is = was
		}
		switch {
		case len(fits) == MostServices:
			errs = append(errs, fmt.Errorf("%s: there are more than %d services", of, MostServices))
		case size > left:
			errs = append(errs, fmt.Errorf("%s: there is no room for it: all services together have more than %d bytes", of, mostTogether))
		default:
			fits[of] = is
			left -= size
		}
	}
	const most = 5 // are named
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most], fmt.Errorf("and %d more", more))
	}
	return fits, errors.Join(errs...)
}

// measure is how many bytes the file of a service has, or says why it may not have them.
func measure(is []endpoints.Slice) (int, error) {
	if len(is) > MostSlices {
		return 0, fmt.Errorf("it has %d slices; at most %d are written", len(is), MostSlices)
	}
	size := len(encoded(service{is}))
	if size > MostBytes {
		return 0, fmt.Errorf("it has %d bytes; at most %d are written", size, MostBytes)
	}
	return size, nil
}
