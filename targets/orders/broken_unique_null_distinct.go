package orders

// uniqueNullDistinctDesign has a unique index with a column that may be null.
//
// Each branch of the shop numbers its own orders, so the branch belongs into the index. Whoever orders on
// the web has no branch: the column is null, and to SQL one null is not equal to another. The index is
// there, a look at the schema is reassuring, the test with a branch passes, and on the web nothing is
// unique. The code is that of natural-key.
func uniqueNullDistinctDesign() Design {
	return Design{
		Name:     "unique-null-distinct",
		Summary:  "a unique index on reference and branch, where the branch is null: no null equals another, and nothing is unique",
		Contract: oncePerReference(),
		Twin:     "natural-key",
		Shows:    []string{"duplicate"},
		By:       []string{"tabs-natural-key", "sequential-replay", "fresh-key-retry"},
		schema: []string{
			ordersTable, `alter table orders add column branch varchar(40)`,
			`create unique index orders_reference on orders (customer, kind, branch, reference)`,
		},
		handler: func(a *api) handler { return needReference(naturalKey{a}.create) },
	}
}
