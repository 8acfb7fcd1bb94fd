// Orders behind Fiber's idempotency middleware, with answers that are larger than the body that it takes.
package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/idempotency"
	"github.com/jackc/pgx/v5/pgxpool"
)

// records keeps what the middleware stores in the database of the orders.
type records struct{ *pgxpool.Pool }

// GetWithContext returns nil where nothing is kept, as the middleware's interface has it.
func (r records) GetWithContext(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	err := r.QueryRow(ctx, "select coalesce((select value from records where key = $1 and (expires is null or expires > now())), ''::bytea)", key).Scan(&value)
	if len(value) == 0 {
		return nil, err
	}
	return value, err
}

// SetWithContext keeps a value until its lifetime is over, by the database's clock.
func (r records) SetWithContext(ctx context.Context, key string, value []byte, lifetime time.Duration) error {
	_, err := r.Exec(ctx, "insert into records values ($1, $2, now() + $3::interval) on conflict (key) do update set value = $2, expires = now() + $3::interval", key, value, lifetime)
	return err
}

func (r records) DeleteWithContext(ctx context.Context, key string) error {
	_, err := r.Exec(ctx, "delete from records where key = $1", key)
	return err
}

func (r records) ResetWithContext(ctx context.Context) error {
	_, err := r.Exec(ctx, "delete from records")
	return err
}

func (r records) Get(key string) ([]byte, error) { return r.GetWithContext(context.Background(), key) }
func (r records) Set(key string, value []byte, lifetime time.Duration) error {
	return r.SetWithContext(context.Background(), key, value, lifetime)
}
func (r records) Delete(key string) error { return r.DeleteWithContext(context.Background(), key) }
func (r records) Reset() error            { return r.ResetWithContext(context.Background()) }
func (r records) Close() error            { return nil }

// main serves orders whose answers have 2000 characters and more, twice what a request may have.
func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err == nil {
		_, err = pool.Exec(ctx, "create table if not exists orders (id serial primary key, note text not null); create table if not exists records (key text primary key, value bytea, expires timestamptz)")
	}
	if err != nil {
		panic(err)
	}
	app := fiber.New(fiber.Config{BodyLimit: 1024})
	app.Use(idempotency.New(idempotency.Config{KeyHeader: "Idempotency-Key", KeyHeaderValidate: func(string) error { return nil }, Storage: records{pool}}))
	app.Post("/orders", func(c fiber.Ctx) error {
		var order struct{ Note string }
		if err := c.Bind().JSON(&order); err != nil {
			return err
		}
		var id int
		if err := pool.QueryRow(c.Context(), "insert into orders (note) values ($1) returning id", order.Note).Scan(&id); err != nil {
			return err
		}
		return c.Status(201).JSON(map[string]any{"id": id, "terms": strings.Repeat("All sales are final. ", 100)})
	})
	panic(app.Listen("127.0.0.1:"+os.Getenv("PORT"), fiber.ListenConfig{DisableStartupMessage: true}))
}
