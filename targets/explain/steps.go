package explain

// issued says what cannot be tried where the target hands its keys out.
func issued(x *explainer) {
	x.held("key.issued", "A key that the target has issued is valid for one intent only, whichever client sends it again")
	x.notChecked("key.issued", "Whether keys that hardly differ, or are blank, or those of two principals or operations are kept apart, because clients do not choose them")
}

// prepared says what cannot be tried where requests change what was there before.
func prepared(x *explainer) {
	if x.target.CarriesMarker(x.operation) {
		return
	}
	x.held("prepare", "All requests of an intent are about the one thing that was prepared for it, and the row shows that it was changed")
	x.notChecked("prepare", "Whether two intents about one thing are kept apart, or an altered body from the original, because a row has the marker of what was prepared")
	if len(x.operation.Effects) == 0 {
		x.notChecked("effects", "Whether a change was made twice, because a changed thing is one row however often it changes; declare an effect with a value")
	}
}

// rateLimit says what a limit keeps a run from.
func rateLimit(x *explainer) {
	if l := x.target.RateLimit; l != nil {
		x.weakened("rate_limit", "No more than %d requests are sent at once, and so many in %s: scenarios that send more at once are left out", l.Requests, brief(l.Per))
	}
}
