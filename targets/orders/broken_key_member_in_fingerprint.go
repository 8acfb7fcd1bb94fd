package orders

// keyMemberInFingerprintDesign compares the whole body, with the member that has the key.
//
// It takes the key from either place. A retry by the other way has a member more or less, and is refused: its client
// is told that the key belongs to another order, and it is its own.
func keyMemberInFingerprintDesign() Design {
	d := keyInEitherPlaceDesign()
	d.Name, d.Correct = "key-member-in-fingerprint", false
	d.Summary = "compares bodies with the member that has the key: a retry with the key in the other place is refused as another order"
	d.Twin = "key-in-either-place"
	d.Shows, d.By = []string{"false-conflict"}, []string{"same-key-two-ways"}
	d.handler = func(a *api) handler {
		return keyFromEither(func(string) handler { return needKey(newUniqueKey(a).create) })
	}
	return d
}
