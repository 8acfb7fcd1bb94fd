package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// processors is how long the processors of this machine have been busy since it began, all together; 0: the system does not say. Linux counts
// it in hundredths of a second.
func processors() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	const idle, waiting, stolen = 4, 5, 8
	sum := 0
	for n, field := range strings.Fields(line) {
		count, err := strconv.Atoi(field)
		if err == nil && n != idle && n != waiting && n < stolen {
			sum += count
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
