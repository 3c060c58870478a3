package schemas

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// module is the path of this module; comments of other modules are theirs.
const module = "github.com/waybill-dev/waybill/"

// Comments are what the code says of types.
type Comments struct {
	fields    map[string]string   // by package, type and field
	constants map[string][]string // by package and type
}

// ReadComments reads the packages of a module at root.
func ReadComments(root string, packages ...string) (Comments, error) {
	c := Comments{fields: map[string]string{}, constants: map[string][]string{}}
	for _, p := range packages {
		names, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil || len(names) == 0 {
			return c, fmt.Errorf("package %s has %d files: %w", p, len(names), err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return c, fmt.Errorf("reading comments: %w", err)
			}
			c.take(module+p, file)
		}
	}
	return c, nil
}

func (c Comments) take(path string, file *ast.File) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				c.takeStruct(path+"."+s.Name.Name, s)
			case *ast.ValueSpec:
				c.takeConstant(path, g.Tok, s)
			}
		}
	}
}

func (c Comments) takeStruct(name string, s *ast.TypeSpec) {
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range st.Fields.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, n := range f.Names {
			c.fields[name+"."+n.Name] = strings.Join(strings.Fields(text), " ")
		}
	}
}

// takeConstant remembers a text that a type of its own may be.
func (c Comments) takeConstant(path string, tok token.Token, s *ast.ValueSpec) {
	of, ok := s.Type.(*ast.Ident)
	if tok != token.CONST || !ok || len(s.Values) != 1 {
		return
	}
	lit, ok := s.Values[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return
	}
	if text, err := strconv.Unquote(lit.Value); err == nil {
		c.constants[path+"."+of.Name] = append(c.constants[path+"."+of.Name], text)
	}
}

// Field is the comment of a field; "" for none.
func (c Comments) Field(t reflect.Type, name string) string {
	return c.fields[t.PkgPath()+"."+t.Name()+"."+name]
}

// Constants are the values of a type that has names for them.
func (c Comments) Constants(t reflect.Type) []string { return c.constants[t.PkgPath()+"."+t.Name()] }
