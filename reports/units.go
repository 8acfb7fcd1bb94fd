package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// words is a name as it stands in files, as words.
func words(name fmt.Stringer) string { return strings.ReplaceAll(name.String(), "-", " ") }

// joined puts a separator between the parts that are not empty.
func joined(parts []string, separator string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), separator)
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// percent writes a share from 0 to 1, with two digits where it is small.
func percent(p float64) string {
	if p >= 0.1 {
		return fmt.Sprintf("%.0f%%", 100*p)
	}
	return fmt.Sprintf("%.2g%%", 100*p)
}

// duration writes a time span with two digits that matter.
func duration(o history.Offset) string {
	d := o.Duration()
	switch abs := d.Abs(); {
	case abs == 0:
		return "0ms"
	case abs < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case abs < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	case abs < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case abs < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Abs().Seconds())%60)
	}
}

// clock writes a moment. Unlike a span it keeps its milliseconds, since moments are compared.
func clock(o history.Offset) string {
	if d := o.Duration(); d.Abs() >= time.Second {
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	return duration(o)
}

// tenths rounds an offset of a sweep to tenths of a millisecond: sweeps are no more exact.
func tenths(o history.Offset) string { return o.Duration().Round(100 * time.Microsecond).String() }

// micros rounds a short time to microseconds.
func micros(o history.Offset) string { return o.Duration().Round(time.Microsecond).String() }

// millis writes a moment in milliseconds with all digits that were measured to mean something.
func millis(o history.Offset) string { return strconv.FormatFloat(float64(o)/1e6, 'f', 3, 64) }

// seconds writes a time as JUnit has it.
func seconds(o history.Offset) string { return fmt.Sprintf("%.3f", o.Duration().Seconds()) }

// cell writes a database value as SQL clients do.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any, []any:
		if text, err := json.Marshal(v); err == nil {
			return clean(string(text))
		}
	}
	return clean(fmt.Sprint(v))
}
