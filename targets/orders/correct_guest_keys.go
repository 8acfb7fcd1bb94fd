package orders

// guestKeysDesign sells to guests, who have a session and no account. A key belongs to the session that it came with, so
// that two guests whose devices chose the same key are two customers.
func guestKeysDesign() Design {
	d := uniqueKeyDesign()
	d.Name = "guest-keys"
	d.Summary = "sells to guests without an account: a key belongs to the session of the guest who sent it"
	d.accounts = guests
	return d
}
