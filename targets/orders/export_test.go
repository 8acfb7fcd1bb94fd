package orders

import "time"

// KeepKeys has designs that forget remember a key for so long.
func KeepKeys(d time.Duration) { kept = d }
