// Package helm has what is said about releases of Helm charts, as values: what a Flux HelmRelease
// asks for, the charts that a chart needs, hooks, and which functions a template may call. Its
// room charts renders them; nothing here does, nor needs Helm's library for it but what reads
// text: the types of Chart.yaml, and how --set sets a value.
//
// # Values
//
// Values are merged as Flux does: valuesFrom in order, then spec.values, all over the
// chart's own.
//
// # Functions
//
// Templates may call functions whose result is not a function of their input: lookup,
// now, randAlphaNum, genCA, env... Such a function is Refused, unless the release allows it by
// the annotation AllowAnnotation.
package helm
