package services

import (
	"regexp"
	"strings"
)

// reasonLines is how many lines tell why a service ended, at most, and longestReason how many bytes each has.
const (
	reasonLines   = 3
	longestReason = 300
)

// reason matches the lines in which runtimes say why a program ends, without the stack trace that follows.
var reason = regexp.MustCompile(`^\s*(?:` + strings.Join([]string{
	`panic: `, `fatal error: `, `runtime: out of memory`, `\[signal SIG`, // Go
	`(?:<ref \*\d+> )?(?:Uncaught )?(?:[A-Za-z_$][\w$]*\.)*(?:[A-Z][\w$]*)?(?:Error|Exception|Exit|Interrupt)(?: \[\w+\])?(?::|$)`, // Node, Python, .NET
	`Exception in thread `, `Caused by: `, // Java
	`(?:PHP )?Fatal error: `, `Unhandled (?:[Ee]xception|rejection)`, `\*\* \(\w`, `thread '.*' panicked at`, // PHP, .NET, Elixir, Rust
	`\S+:\d+:in .*\(\w+(?:::\w+)*\)$`,                                                                 // Ruby
	`terminate called `, `what\(\): `, `Segmentation fault`, `.*Assertion .* failed`, `FATAL ERROR: `, // C++, V8
	`(?:\S+ ){0,3}\[?(?:FATAL|CRITICAL|PANIC|EMERG)\b`, `.*"level":\s*"(?:fatal|panic)"`, // loggers
}, "|") + `)`)

// lowerReason matches what Node prints of an error whose class names itself in lower case, as that of the PostgreSQL driver. It is
// a reason only above a stack trace: loggers begin lines like that as well.
var lowerReason = regexp.MustCompile(`^(?:<ref \*\d+> )?error: `)

// frame matches lines that tell where, and not why.
var frame = regexp.MustCompile(`^(?:\s+at |\t|\s+File "|goroutine \d+ \[|created by |\s*\^+\s*$|Node\.js v|npm ERR!|exit status \d)`)

// reasonIn returns the lines that tell why a program ended, out of the last that it printed: the last that its runtime
// gave as a reason, with those that go with it, or else the last lines that are no part of a stack trace.
func reasonIn(lines []string) []string {
	var told []string
	last := -1
	for i, line := range lines {
		switch {
		case !reason.MatchString(line) && !(lowerReason.MatchString(line) && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    at ")):
			continue
		case last >= 0 && belongs(lines[last+1:i], line):
			told = append(told, line)
		default:
			told = []string{line}
		}
		last = i
	}
	if last >= 0 && strings.Contains(lines[last], "panicked at") && last+1 < len(lines) { // Rust says why in the next line
		told = append(told, lines[last+1])
	}
	if len(told) > reasonLines { // the first cause is the last one of Java
		told = append(told[:reasonLines-1], told[len(told)-1])
	}
	for i := len(lines) - 1; last < 0 && i >= 0 && len(told) < reasonLines; i-- {
		if !frame.MatchString(lines[i]) {
			told = append([]string{lines[i]}, told...)
		}
	}
	for i, line := range told {
		line = strings.TrimSpace(line)
		told[i] = line[:min(len(line), longestReason)]
	}
	return told
}

// belongs reports that a reason goes with the one before it: it follows at once, or is its cause.
func belongs(between []string, line string) bool {
	if strings.HasPrefix(strings.TrimSpace(line), "Caused by: ") {
		return true
	}
	return len(between) == 0
}
