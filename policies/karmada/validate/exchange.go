package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"

	"github.com/waybill-dev/waybill/render/diag"
)

// checkServiceExport holds for what is exported of a Service: it is written onto another one.
func checkServiceExport(fs *findings, s *mcs.ServiceExportSpec, at field) {
	checkLabels(fs, at.at("exportedLabels"), s.ExportedLabels)
	checkAnnotations(fs, at.at("exportedAnnotations"), s.ExportedAnnotations)
}

// checkServiceImport holds for the Service that is derived of it, which API servers judge.
func checkServiceImport(fs *findings, s *mcs.ServiceImportSpec, at field) {
	oneOf(fs, at.at("type"), s.Type, mcs.ClusterSetIP, mcs.Headless)
	checkImportedPorts(fs, s.Ports, at.at("ports"))
	if s.SessionAffinity != "" {
		oneOf(fs, at.at("sessionAffinity"), s.SessionAffinity, corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)
	}
	if c := s.SessionAffinityConfig; c != nil && c.ClientIP != nil {
		const day = 86400
		fs.within(at.at("sessionAffinityConfig", "clientIP", "timeoutSeconds"), c.ClientIP.TimeoutSeconds, 1, day)
	}
	for i, f := range s.IPFamilies {
		oneOf(fs, at.at("ipFamilies", i), f, corev1.IPv4Protocol, corev1.IPv6Protocol)
	}
	if p := s.InternalTrafficPolicy; p != nil {
		oneOf(fs, at.at("internalTrafficPolicy"), *p, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	}
}

func checkImportedPorts(fs *findings, ports []mcs.ServicePort, at field) {
	names, numbers := map[string]bool{}, map[string]bool{}
	for i, p := range ports {
		at := at.at(i)
		switch {
		case p.Name == "" && len(ports) > 1:
			fs.require(at.at("name"), "", "where there are several ports each has a name")
		case names[p.Name]:
			fs.fail(at.at("name"), diag.DuplicateValue, fmt.Sprintf("%q is the name of another port", p.Name), "")
		case p.Name != "":
			fs.invalid(at.at("name"), p.Name, validation.IsDNS1123Label(p.Name))
		}
		names[p.Name] = p.Name != ""
		fs.within(at.at("port"), &p.Port, 1, 65535)
		protocol := corev1.ProtocolTCP
		if p.Protocol != "" {
			protocol = p.Protocol
			oneOf(fs, at.at("protocol"), protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		}
		if p.AppProtocol != nil {
			fs.invalid(at.at("appProtocol"), *p.AppProtocol, validation.IsQualifiedName(*p.AppProtocol))
		}
		number := fmt.Sprintf("%d/%s", p.Port, protocol)
		if numbers[number] {
			fs.fail(at.at("port"), diag.DuplicateValue, number+" is another port, too", "")
		}
		numbers[number] = true
	}
}
