package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// mutant is a package in which one rule is switched off.
type mutant struct {
	path     string // of the file
	line     int
	function string // with its receiver: "evaluation.report"
	what     string // what was switched off: "never: len(rows) > 1"
	source   []byte // the whole file
}

// rule identifies a mutant by what it says and not by where it stands.
func (m mutant) rule() string { return m.function + ": " + m.what }

// String is the line of the table: where the mutant is, and what was switched off.
func (m mutant) String() string {
	return fmt.Sprintf("%s:%d %s", filepath.Base(m.path), m.line, m.rule())
}

// derive lists the mutants of a package, its tests left out.
func derive(dir string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		mutants, err := deriveFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no rules in %s", dir)
	}
	return all, nil
}

// deriveFile lists the mutants of one file. Its path is absolute, since
// the go command reads the overlay in another directory.
func deriveFile(path string) ([]mutant, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &deriver{path: path, text: string(text), files: files}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			s.derive(f)
		}
	}
	return s.mutants, nil
}

// deriver makes the mutants of one file.
type deriver struct {
	path     string
	text     string
	files    *token.FileSet
	function string
	mutants  []mutant
}

// derive makes the mutants of a function.
func (s *deriver) derive(f *ast.FuncDecl) {
	s.function = nameOf(f)
	ast.Inspect(f.Body, s.visit)
	if yesOrNo(f.Type) {
		s.answers(f.Body)
	}
}

// nameOf is a function's name, with the type of its receiver before it.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// yesOrNo reports that a function answers with a bool alone: such a function is a rule.
func yesOrNo(f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) != 1 {
		return false
	}
	name, ok := f.Results.List[0].Type.(*ast.Ident)
	return ok && name.Name == "bool"
}

// visit makes the mutants of one node. What is below it is visited too.
func (s *deriver) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ExprStmt:
		s.call(n)
	case *ast.IfStmt:
		s.never(n.Cond)
	case *ast.SwitchStmt:
		s.cases(n.Body, n.Tag != nil)
	case *ast.TypeSwitchStmt:
		s.cases(n.Body, true)
	case *ast.RangeStmt:
		s.elements(n.X)
	case *ast.ReturnStmt:
		for _, result := range n.Results {
			s.rules(result)
		}
	case *ast.CallExpr:
		switch name := s.of(n.Fun); {
		case name == "append" && len(n.Args) > 1:
			s.append(n)
		case name == "slices.Contains":
			s.elements(n.Args[0])
		}
	}
	return true
}

// call removes a call whose result nobody wants. It stays in the text, so that no variable is unused.
func (s *deriver) call(statement *ast.ExprStmt) {
	call, ok := statement.X.(*ast.CallExpr)
	if !ok || s.of(call.Fun) == "panic" {
		return
	}
	s.add(statement, "removed: "+firstLine(s.of(call)), "if false { "+s.of(statement)+" }")
}

// append removes what is added to a list.
func (s *deriver) append(call *ast.CallExpr) {
	list := s.of(call.Args[0])
	s.add(call, "removed: "+firstLine(s.of(call)), s.of(call)+"[:len("+list+")]")
}

// never makes a condition, or each alternative of it, false. It is still evaluated.
func (s *deriver) never(condition ast.Expr) {
	for _, c := range alternatives(condition) {
		s.add(c, "never: "+s.of(c), "(("+s.of(c)+") && false)")
	}
}

// alternatives lists what "or" joins: each may be a rule by itself.
func alternatives(condition ast.Expr) []ast.Expr {
	switch c := condition.(type) {
	case *ast.ParenExpr:
		return alternatives(c.X)
	case *ast.BinaryExpr:
		if c.Op == token.LOR {
			return append(alternatives(c.X), alternatives(c.Y)...)
		}
	}
	return []ast.Expr{condition}
}

// cases makes each case of a switch never apply.
func (s *deriver) cases(body *ast.BlockStmt, tagged bool) {
	for _, statement := range body.List {
		clause := statement.(*ast.CaseClause)
		switch {
		case !tagged:
			for _, condition := range clause.List {
				s.never(condition)
			}
		case len(clause.List) == 1:
			s.add(clause, "removed: case "+s.of(clause.List[0]), "")
		default:
			s.drop("case ", clause.List)
		}
	}
}

// elements removes each element of a list that is written out.
func (s *deriver) elements(list ast.Expr) {
	if literal, ok := list.(*ast.CompositeLit); ok {
		s.drop("", literal.Elts)
	}
}

// rules removes each rule of a list or map of functions that is returned, and turns the answers of those that are written
// there.
func (s *deriver) rules(result ast.Expr) {
	literal, ok := result.(*ast.CompositeLit)
	if !ok || len(literal.Elts) == 0 {
		return
	}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		switch e.(type) {
		case *ast.Ident, *ast.FuncLit, *ast.CallExpr:
		default:
			return // data
		}
	}
	if _, ok := literal.Type.(*ast.Ident); ok {
		return // a struct
	}
	s.drop("", literal.Elts)
	ast.Inspect(literal, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && yesOrNo(f.Type) {
			s.answers(f.Body)
		}
		return true
	})
}

// drop removes each element of a list in turn, with the comma beside it.
func (s *deriver) drop(kind string, list []ast.Expr) {
	for i, e := range list {
		from, to := s.at(e.Pos()), s.at(e.End())
		if i+1 < len(list) {
			to = s.at(list[i+1].Pos())
		} else if i > 0 {
			from = s.at(list[i-1].End())
		}
		s.cut(e, "removed: "+kind+firstLine(s.of(e)), from, to, "")
	}
}

// answers makes a function say yes whatever it was asked, and no.
func (s *deriver) answers(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				s.answer(n.Results[0])
			}
		}
		return true
	})
}

// answer turns one result of a function that says yes or no.
func (s *deriver) answer(result ast.Expr) {
	switch text := s.of(result); text {
	case "true":
		s.add(result, "turned: return true", "false")
	case "false":
		s.add(result, "turned: return false", "true")
	default:
		s.add(result, "always: return "+text, "("+text+") || true")
		s.never(result)
	}
}

// at is where a position is in the text, in bytes.
func (s *deriver) at(p token.Pos) int { return s.files.Position(p).Offset }

// of is the text of a node.
func (s *deriver) of(n ast.Node) string { return s.text[s.at(n.Pos()):s.at(n.End())] }

// add makes a mutant that has another text in the place of a node.
func (s *deriver) add(n ast.Node, what, instead string) {
	s.cut(n, what, s.at(n.Pos()), s.at(n.End()), instead)
}

// cut makes a mutant that has another text in the place of some bytes.
func (s *deriver) cut(n ast.Node, what string, from, to int, instead string) {
	s.mutants = append(s.mutants, mutant{
		path: s.path, line: s.files.Position(n.Pos()).Line, function: s.function,
		what: strings.Join(strings.Fields(what), " "), source: []byte(s.text[:from] + instead + s.text[to:]),
	})
}

// firstLine shortens a text of several lines.
func firstLine(text string) string {
	line, rest, more := strings.Cut(text, "\n")
	if more && rest != "" {
		line += " ..."
	}
	return line
}
