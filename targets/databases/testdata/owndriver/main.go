// Command owndriver stands for a program of a user that links a driver of its own called "sqlite", and no other.
// The test of the package builds and runs it.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

type own struct{ driver.Conn }

func (own) Open(name string) (driver.Conn, error) {
	fmt.Println("opened", name)
	return own{}, nil
}

func (own) Close() error { return nil }

func main() {
	sql.Register("sqlite", own{})
	ctx := context.Background()
	db, err := databases.Open(ctx, "sqlite:///tmp/shop.db", databases.ReadOnly)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for _, address := range []string{"postgres://shop@127.0.0.1/shop", "mysql://shop@127.0.0.1/shop"} {
		_, err := databases.Open(ctx, address, databases.ReadOnly)
		fmt.Println(errors.Is(err, databases.ErrNoDriver), err)
	}
}
