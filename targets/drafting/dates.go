package drafting

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// The units in which a date is a number, as what a renewal moves on: "paid_until in days".
const (
	inDays   = " in days"
	inMonths = " in months"
)

// What else a row says of a date, and what is no number of its own: when in its month it is, and when in its day.
const (
	ofMonth = " day of its month"
	ofDay   = " time of its day"
)

// datesIn are the dates and times in a row's columns, as numbers of days and of months. Whatever a column is called: what says when something was
// does not move by whole days with each create.
func datesIn(t databases.Table, row map[string]string) map[string]float64 {
	all := map[string]float64{}
	for _, c := range t.Columns {
		text := row[c.Name]
		if rangeType.MatchString(c.Type) || !moment.MatchString(c.Type) || len(text) < len(time.DateOnly) {
			continue
		}
		if day, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			all[c.Name+inDays] = float64(day.Unix() / 86400)
			all[c.Name+inMonths] = float64(day.Year()*12 + int(day.Month()))
			all[c.Name+ofMonth], all[c.Name+ofDay] = float64(day.Day()), clock(text[len(time.DateOnly):])
		}
	}
	return all
}

// clock is the seconds of a time of day that stands behind a date; 0: none does.
func clock(text string) float64 {
	if len(text) <= len(time.TimeOnly) {
		return 0
	}
	at, err := time.Parse(time.TimeOnly, text[1:1+len(time.TimeOnly)])
	if err != nil {
		return 0
	}
	return at.Sub(at.Truncate(24 * time.Hour)).Seconds()
}

// dated is the column of a date that is a number in some unit; empty: it is a number by itself.
func dated(number string) (column, unit string) {
	for _, unit := range []string{inDays, inMonths} {
		if column, is := strings.CutSuffix(number, unit); is {
			return column, unit
		}
	}
	return "", ""
}

// IsDate reports that a number is a date. A step of days or months with each request counts no requests, as a number may.
func IsDate(number string) bool {
	column, _ := dated(number)
	return column != ""
}

// inItsUnit reports that a number which is a date moves by the unit that it is in: by days, if all creates moved it by as many, or else by months. Three
// months in turn never have as many days. What is moved by 25 hours, or by a twelfth of a year, has another time of the day, or is another day of the
// month: it moves by as much only until it comes to the end of a day or a month.
func inItsUnit(postings []Posting, number string) bool {
	column, unit := dated(number)
	if column == "" {
		return true
	}
	if len(postings) < ownToKnow {
		return false
	}
	alike := true
	for _, p := range postings {
		if p.changed(column+ofDay) != 0 {
			return false
		}
		alike = alike && p.each(column+inDays) == postings[0].each(column+inDays)
	}
	if unit == inMonths && slices.ContainsFunc(postings, func(p Posting) bool { return !p.sameDay(column) }) {
		return false
	}
	return alike == (unit == inDays)
}

// sameDay reports that a date is the same day of the month as before, or one at its end where another month is shorter.
func (p Posting) sameDay(column string) bool {
	shortest := 28.0
	return p.changed(column+ofMonth) == 0 || p.Before.Numbers[column+ofMonth] >= shortest && p.After.Numbers[column+ofMonth] >= shortest
}

// each is by how much each row of a create has changed a number.
func (p Posting) each(number string) float64 {
	return math.Round(p.changed(number) / float64(max(p.Rows, 1)))
}

// numberNames are the names of the numbers that a row may hold: those of its columns, those of dates in each unit, and those within others.
func (s Standing) numberNames() (names []string) {
	for _, c := range s.Of.Columns {
		names = append(names, c.Name)
		for _, unit := range []string{inDays, inMonths} {
			for _, date := range []string{c.Name + unit, c.Name + rangeEnd + unit} {
				if _, there := s.Numbers[date]; there {
					names = append(names, date)
				}
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(s.Numbers)) {
		if _, _, part := numberPart(number); part != "" {
			names = append(names, number)
		}
	}
	return names
}

// numberIn is a column of a table as a number.
func numberIn(d databases.Dialect, table, number string) string {
	column, unit := dated(number)
	if column == "" {
		if part := partIn(d, table, number); part != "" {
			return part
		}
		return table + "." + d.Name(number)
	}
	at := table + "." + d.Name(column)
	if column, is := strings.CutSuffix(column, rangeEnd); is {
		at = "upper(" + table + "." + d.Name(column) + ")"
	}
	days := map[databases.Dialect]string{
		databases.PostgreSQL: "(cast(%s as date) - date '1970-01-01')",
		databases.MariaDB:    "to_days(%s)",
		databases.SQLite:     "cast(julianday(date(%s)) + 0.5 as integer)",
	}
	months := map[databases.Dialect]string{
		databases.PostgreSQL: "cast(extract(year from %[1]s) * 12 + extract(month from %[1]s) as integer)",
		databases.MariaDB:    "period_diff(extract(year_month from %s), 190001)",
		databases.SQLite:     "(strftime('%%Y', %[1]s) * 12 + strftime('%%m', %[1]s))",
	}
	if unit == inMonths {
		return fmt.Sprintf(months[d], at)
	}
	return fmt.Sprintf(days[d], at)
}
