package drafting

import (
	"encoding/json"
	"regexp"
	"time"
)

// clockTime matches a time of the day, with seconds.
var clockTime = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// TellsTime reports that an answer may hold the time at which it was given: two answers within a second are equal then, and those
// that are further apart are not.
func (a Answer) TellsTime(now time.Time) bool {
	tells := clockTime.MatchString(a.Text)
	Scalars("", a.Body, func(_ string, value any) {
		switch value := value.(type) {
		case string:
			tells = tells || clockTime.MatchString(value)
		case json.Number:
			number, err := value.Float64()
			tells = tells || err == nil && (near(number, now.Unix()) || near(number, now.UnixMilli()/1000*1000))
		}
	})
	return tells
}

// near reports that a number is a time of this hour, in the unit of another.
func near(number float64, now int64) bool {
	hour := 3600.0
	if now > 1e11 {
		hour *= 1000
	}
	return number > float64(now)-hour && number < float64(now)+hour
}
