// Package junit writes diagnostics as a report of tests in JUnit's XML, as Jenkins, GitLab
// and others read it. A test is a code in a file: it fails if that is an error, and else
// only prints what was found. So a test keeps its name while lines move, and what one
// version of a source mended or broke can be told from another's report.
package junit

import (
	"encoding/xml"
	"fmt"
	"path"

	"github.com/waybill-dev/waybill/render/diag"
)

type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		counts

		Suites []suite `xml:"testsuite"`
	}
	suite struct {
		counts

		Cases []testcase `xml:"testcase"`
	}
	counts struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Time     string `xml:"time,attr"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		File    string   `xml:"file,attr,omitempty"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure"`
		Output  string   `xml:"system-out,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// name is that of the suite, and of the class, which readers show.
const name = "waybill validate"

// Encode returns the report of diagnostics of the source in a folder of a repository. It
// has a test that passes, for readers that take a report without any for a mistake. It
// does not say how long a test took.
func Encode(folder string, ds []diag.Diagnostic) ([]byte, error) {
	const untimed = "0"
	cases := []testcase{{Class: name, Name: "the source is planned", Time: untimed}}
	index := map[[2]string]int{}
	for _, d := range ds {
		code := string(d.Code)
		key := [2]string{d.Pos.File, code}
		i, ok := index[key]
		if !ok {
			i = len(cases)
			index[key] = i
			c := testcase{Class: name, Name: code, Time: untimed}
			if d.Pos.File != "" {
				c.File = path.Join(folder, d.Pos.File)
				c.Name = c.File + " " + code
			}
			cases = append(cases, c)
		}
		cases[i].add(d)
	}
	n := counts{Name: name, Tests: len(cases), Time: untimed}
	for _, c := range cases {
		if c.Failure != nil {
			n.Failures++
		}
	}
	data, err := xml.MarshalIndent(suites{counts: n, Suites: []suite{{n, cases}}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding diagnostics as JUnit's XML: %w", err)
	}
	return []byte(xml.Header + string(data) + "\n"), nil
}

// add notes a diagnostic of the test.
func (c *testcase) add(d diag.Diagnostic) {
	switch {
	case d.Severity != diag.Error:
		c.Output += d.String() + "\n"
	case c.Failure == nil:
		c.Failure = &failure{Message: d.Message, Type: string(d.Code), Text: d.String() + "\n"}
	default:
		c.Failure.Text += d.String() + "\n"
	}
}
