package orders

// uniqueWithDeletedAtNullDesign makes room in the unique index for orders that were deleted.
//
// A deleted order stays as a row with the time of its end, and its reference must be free again. Somebody
// put deleted_at into the index, and so it was: the deleted ones differ in their time. The living ones
// have null there, and no null equals another. The upsert never meets a row, inserts each time, and
// answers with the order that it finds by the reference. All answers look right, and the rows pile up.
// An index "where deleted_at is null" is what was meant.
func uniqueWithDeletedAtNullDesign() Design {
	return Design{
		Name:     "unique-with-deleted-at-null",
		Summary:  "upserts on reference and deleted_at: the null of the living orders equals no other, and each repeat adds a row",
		Contract: createdOrFound(),
		Twin:     "upsert",
		Shows:    []string{"duplicate"},
		By:       []string{"sequential-replay", "tabs-natural-key", "fresh-key-retry"},
		schema: []string{
			ordersTable, `alter table orders add column deleted_at varchar(40)`,
			`create unique index orders_reference on orders (customer, kind, reference, deleted_at)`,
		},
		handler: func(a *api) handler {
			return needReference(upsert{a, "customer, kind, reference, deleted_at"}.create)
		},
	}
}
