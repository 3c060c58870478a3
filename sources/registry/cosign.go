package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// What cosign calls things, by its specifications SIGNATURE_SPEC.md and BUNDLE_SPEC.md.
const (
	simpleType      = "application/vnd.dev.cosign.simplesigning.v1+json"
	simpleSignature = "dev.cosignproject.cosign/signature" // an annotation of a layer
	simpleClaim     = "cosign container image signature"
	bundleType      = "application/vnd.dev.sigstore.bundle." // and a version
	emptyType       = "application/vnd.oci.empty.v1+json"    // of what has no configuration, as bundles
	statementType   = "application/vnd.in-toto+json"
	signPredicate   = "https://sigstore.dev/cosign/sign/v1" // of a signature, and not of what else may be attested
)

// simple is a payload as cosign has signed it since its first version (simple signing).
type simple struct {
	Critical struct {
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
}

// signedSimply reports whether a payload says that an image with a digest is signed, and one of the keys made the signature,
// base64, of it. Which name the payload has for the image does not count, as for cosign, so that images can be copied.
func signedSimply(payload []byte, signature, digest string, keys []Key) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || !anySigned(keys, payload, raw) {
		return false
	}
	var said simple
	if err := json.Unmarshal(payload, &said); err != nil {
		return false
	}
	return said.Critical.Image.Digest == digest && said.Critical.Type == simpleClaim
}

// bundle is as much of a bundle of Sigstore as a signature by a key needs.
type bundle struct {
	Envelope struct {
		Payload     []byte `json:"payload"`
		PayloadType string `json:"payloadType"`
		Signatures  []struct {
			Sig []byte `json:"sig"`
		} `json:"signatures"`
	} `json:"dsseEnvelope"`
}

// statement is what cosign signs within a bundle, an in-toto statement.
type statement struct {
	Type    string `json:"_type"`
	Subject []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	PredicateType string `json:"predicateType"`
}

// mayBeBundle reports that what refers to an image may be a bundle, by what a list says of it. Where a registry has no list of its own
// cosign before 3.0.6 notes the type of the configuration there.
func mayBeBundle(artifactType string) bool {
	return artifactType == "" || artifactType == emptyType || strings.HasPrefix(artifactType, bundleType)
}

// signedByBundle reports whether a bundle says that an image with a digest is signed, and one of the keys made the signature.
func signedByBundle(data []byte, digest string, keys []Key) bool {
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil || b.Envelope.PayloadType != statementType {
		return false
	}
	message := envelope(b.Envelope.PayloadType, b.Envelope.Payload)
	for _, s := range b.Envelope.Signatures {
		if anySigned(keys, message, s.Sig) {
			return states(b.Envelope.Payload, digest)
		}
	}
	return false
}

// states reports whether a statement is cosign's signature of an image with a digest.
func states(payload []byte, digest string) bool {
	var said statement
	if err := json.Unmarshal(payload, &said); err != nil {
		return false
	}
	if !strings.HasPrefix(said.Type, "https://in-toto.io/Statement/v") || said.PredicateType != signPredicate {
		return false
	}
	for _, s := range said.Subject {
		if hex, ok := s.Digest["sha256"]; ok && "sha256:"+hex == digest {
			return true
		}
	}
	return false
}

// envelope is what a signature of an envelope is made of (DSSE, protocol.md).
func envelope(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

func anySigned(keys []Key, message, signature []byte) bool {
	for _, k := range keys {
		if k.signed(message, signature) {
			return true
		}
	}
	return false
}
