package main

// The authorities that TLS trusts where the machine has none, as in an image that holds the program
// alone. Those of a machine count before them.
import _ "golang.org/x/crypto/x509roots/fallback"
