// Package kustomize has what is said about Kustomize overlays, as values: what a Flux Kustomization
// asks for, the charts that a kustomization lists, and where the source has what a build takes in.
// Its room build builds them; nothing here does, nor needs kustomize's libraries.
package kustomize
