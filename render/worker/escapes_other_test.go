//go:build !linux

package worker

func escapes() map[string]func(order) (string, error) { return nil }

func left() bool { return false }

func alive(int) bool { return false }
