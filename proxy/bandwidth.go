package proxy

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// bandwidthKind is the name under which toxiproxy in this process knows our bandwidth toxic.
const bandwidthKind = "doubletap-bandwidth"

// bandwidthToxic does what toxiproxy's bandwidth does, without its messages: that one writes to zerolog's global
// logger, which belongs to the process, and which only a global setting could silence.
type bandwidthToxic struct {
	Rate int64 `json:"rate"` // kilobytes per second, at least 1
}

// sliceTime is the time between two pieces of what takes longer to pass.
const sliceTime = 100 * time.Millisecond

// lastWrite bounds how long an interrupted toxic tries to pass on what it holds.
const lastWrite = 5 * time.Second

// Pipe passes data on at the rate, until its input ends or the toxic is removed.
func (t *bandwidthToxic) Pipe(stub *toxics.ToxicStub) {
	var debt time.Duration // before the next data may pass
	for {
		select {
		case <-stub.Interrupt:
			return
		case data := <-stub.Input:
			if data == nil {
				stub.Close()
				return
			}
			// 1 KB/s is one byte per millisecond.
			debt += time.Duration(len(data.Data)) * time.Millisecond / time.Duration(t.Rate)
			var passed bool
			if debt, passed = t.pass(stub, data, debt); !passed {
				_ = stub.WriteOutput(data, lastWrite) // what it holds must not be lost
				return
			}
		}
	}
}

// pass passes data on in pieces of sliceTime and returns the debt that is left. It reports whether all of the data
// has passed; what has not when the toxic is removed is left in data.
func (t *bandwidthToxic) pass(stub *toxics.ToxicStub, data *stream.StreamChunk, debt time.Duration) (left time.Duration, passed bool) {
	piece := t.Rate * sliceTime.Milliseconds()
	for int64(len(data.Data)) > piece {
		select {
		case <-time.After(sliceTime):
			stub.Output <- &stream.StreamChunk{Data: data.Data[:piece], Timestamp: data.Timestamp}
			data.Data = data.Data[piece:]
			debt -= sliceTime
		case <-stub.Interrupt:
			return debt, false
		}
	}
	begun := time.Now()
	select {
	case <-time.After(debt):
		stub.Output <- data
		return debt - time.Since(begun), true // a timer is late by about 1 ms, which the next wait makes up for
	case <-stub.Interrupt:
		return debt, false
	}
}
