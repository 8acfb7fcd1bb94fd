package orders

import "net/http"

// uniqueBlocksAfterSoftDeleteDesign counts the deleted orders in its unique index.
//
// Deleting used to delete the row, and the index on the reference was right. Then somebody wanted to be
// able to look up what was deleted, so the row stays now, with the time of its end, and every query has
// "deleted_at is null". The index has no such condition. Who deletes an order and places it again is told
// that it exists, by the id of one that nobody will ever find. The code of the create is that of
// natural-key.
func uniqueBlocksAfterSoftDeleteDesign() Design {
	return Design{
		Name:     "unique-blocks-after-soft-delete",
		Summary:  "deleted orders stay as rows, and in the unique index on the reference: who orders again is told that the order exists",
		Contract: oncePerReference(),
		Twin:     "soft-delete",
		Shows:    []string{"false-conflict"},
		By:       []string{"made-again"},
		schema:   []string{ordersTable, `alter table orders add column deleted_at varchar(40)`, referenceIndex},
		handler:  func(a *api) handler { return needReference(naturalKey{a}.create) },
		routes:   func(a *api, mux *http.ServeMux) { a.deletes(mux, "deleted_at = ?") },
		describe: describeDeletes,
	}
}
