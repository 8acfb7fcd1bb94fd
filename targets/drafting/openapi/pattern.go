package openapi

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matching is a short text that matches a pattern, and is at least so long where the pattern allows it.
func matching(pattern string, shortest int) (string, bool) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	for repeat := range 64 {
		var out strings.Builder
		write(&out, parsed, repeat)
		if text := out.String(); text != "" && len(text) >= shortest && compiled.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// longestSample bounds what a pattern may grow to, in bytes.
const longestSample = 4096

// write writes a text of the pattern, in which whatever may repeat does so this often more than it must.
func write(out *strings.Builder, p *syntax.Regexp, repeat int) {
	if out.Len() > longestSample {
		return
	}
	least, most := 1, 1
	switch p.Op {
	case syntax.OpLiteral:
		out.WriteString(string(p.Rune))
	case syntax.OpCharClass:
		out.WriteRune(pleasant(p.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteRune('a')
	case syntax.OpAlternate:
		write(out, p.Sub[0], repeat)
		return
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		most = -1
	case syntax.OpQuest:
		least = 0
	case syntax.OpRepeat:
		least, most = p.Min, p.Max
	}
	times := least + repeat
	if most >= 0 {
		times = min(times, most)
	}
	for range times {
		for _, part := range p.Sub {
			write(out, part, repeat)
		}
	}
}

// pleasant is a letter or digit of a class of characters, which has its ranges in pairs.
func pleasant(class []rune) rune {
	for _, wanted := range "a1A" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
