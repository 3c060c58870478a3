// Package ui opens what Waybill shows as pages in a real browser, headless Chromium, as people with a
// mouse, with a keyboard, with a phone and with a screen reader do.
//
// The tests have the build tag e2e, because they need the program chromium.
package ui
