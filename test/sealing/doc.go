// Package sealing lets sops itself decrypt what render/seal encrypts: as a person does
// who has the branch and an identity, and as Flux does. sops is built from the module
// in tools and run as a program, so that nothing of Waybill is in it.
package sealing
