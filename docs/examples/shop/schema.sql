create table if not exists customers (
    id bigint generated always as identity primary key,
    email text not null unique,
    password_sha256 text not null
);

create table if not exists sessions (
    token text primary key,
    customer_id bigint not null references customers (id),
    since timestamptz not null default now()
);

create table if not exists products (
    sku text primary key,
    title text not null,
    price_cents integer not null
);

create table if not exists orders (
    id bigint generated always as identity primary key,
    customer_id bigint not null references customers (id),
    note text,
    shipping text not null,
    total_cents integer not null,
    placed_at timestamptz not null default now()
);

create table if not exists order_lines (
    order_id bigint not null references orders (id),
    product text not null references products (sku),
    quantity integer not null,
    price_cents integer not null
);

create table if not exists payments (
    id bigint generated always as identity primary key,
    order_id bigint not null references orders (id),
    amount_cents integer not null,
    state text not null
);

create table if not exists idempotency_keys (
    customer_id bigint not null references customers (id),
    key text not null,
    fingerprint text not null,
    answer text not null
);

create index if not exists idempotency_keys_by_key on idempotency_keys (customer_id, key);

insert into customers (email, password_sha256) values
    ('alice@example.com', encode(sha256('open sesame'), 'hex')),
    ('bob@example.com', encode(sha256('swordfish'), 'hex'))
on conflict do nothing;

insert into products (sku, title, price_cents) values
    ('lamp', 'Desk lamp', 3990), ('chair', 'Folding chair', 5490), ('rug', 'Wool rug', 12900)
on conflict do nothing;
