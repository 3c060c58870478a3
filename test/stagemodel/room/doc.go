// Package room holds package stage against the model of staged roll-outs. It is apart from both: the model imports nothing of
// the product.
package room
