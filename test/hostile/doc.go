// Package hostile tries what a stranger may put into a repository: charts,
// kustomizations and YAML that read files and environments, reach the network, start
// programs, write outside, or use up memory, time and stack.
//
// Each is a txtar file in testdata, named after what it tries. Its comment says more,
// and "bites: " what a careless renderer gives it: secret, http, dns, exec, write,
// death, or no for nothing. "in: worker" is one that the product itself survives by
// its worker alone. Files are the repository; these sections are not:
//
//	@job          the job, where it is not a release of chart/ or a build of the root
//	@links        symbolic links, as lines of "path -> target"
//	@repeat PATH  a file of lines that say how often which quoted string stands in it
//	@tgz PATH     a package; see packed
//	@diagnostics  what a user of the product is told; -update rewrites it
//
// In all of them ${HTTP} is the address of a server, ${DNS_NAME} a name to look up,
// ${SOURCE} the folder of the repository on the disk, ${OUTSIDE} a folder with secrets
// beside it, and ${SECRET} a secret that a repository holds by right.
//
// Every file is rendered three times: by the product's own handler, where guards alone
// must hold; by a naive renderer in the product's sandbox, where walls alone must hold;
// and by the naive renderer without walls, which must give what the file says that it
// bites, for files without teeth would prove nothing of the former two. What happened
// is told by canaries: secrets, servers, and fake programs that leave a mark.
//
// The race detector takes memory without end, and limits are part of this.
package hostile
