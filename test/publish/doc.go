// Package publish runs the waybill command against real Git servers: several at
// once, killed at any moment, against full disks and servers that refuse.
package publish
