// Orders of an API whose handler Powertools makes idempotent. Records and orders are in PostgreSQL.
import http from 'node:http';
import pg from 'pg';
import { IdempotencyAlreadyInProgressError, IdempotencyConfig, IdempotencyItemAlreadyExistsError, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { BasePersistenceLayer, IdempotencyRecord } from '@aws-lambda-powertools/idempotency/persistence';

process.env.AWS_LAMBDA_FUNCTION_NAME = 'orders'; // Powertools runs in no other place
console.warn = () => {};
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', () => {}); // a broken idle connection: the pool opens another one
await pool.query(`create table if not exists orders (id serial primary key, note text not null, amount int not null);
  create table if not exists records (id text primary key, status text not null, expires float8 not null, lease float8, data json)`);

const record = (row) => new IdempotencyRecord({
  idempotencyKey: row.id, status: row.status, expiryTimestamp: row.expires,
  inProgressExpiryTimestamp: row.lease ?? undefined, responseData: row.data ?? undefined,
});

// PostgresLayer does what the layer for DynamoDB does, with its condition for a write.
class PostgresLayer extends BasePersistenceLayer {
  async _getRecord(id) {
    const { rows } = await pool.query('select * from records where id = $1', [id]);
    if (rows.length === 0) throw new Error('no such record');
    return record(rows[0]);
  }
  async _putRecord(r) {
    const { rowCount } = await pool.query(
      `insert into records (id, status, expires, lease) values ($1, $2, $3, $4)
       on conflict (id) do update set status = $2, expires = $3, lease = $4
       where records.expires < $5::float8 / 1000 or (records.status = 'INPROGRESS' and records.lease < $5::float8)`,
      [r.idempotencyKey, r.getStatus(), r.expiryTimestamp, r.inProgressExpiryTimestamp, Date.now()]);
    if (rowCount === 0) throw new IdempotencyItemAlreadyExistsError('the record is there');
  }
  async _updateRecord(r) {
    await pool.query('update records set status = $2, expires = $3, data = $4 where id = $1',
      [r.idempotencyKey, r.getStatus(), r.expiryTimestamp, JSON.stringify(r.responseData)]);
  }
  async _deleteRecord(r) {
    await pool.query('delete from records where id = $1', [r.idempotencyKey]);
  }
}

const config = new IdempotencyConfig({ eventKeyJmesPath: 'order', useLocalCache: process.env.CACHE === 'yes' });
config.registerLambdaContext({ getRemainingTimeInMillis: () => 3000 });
const create = makeIdempotent(async ({ order }) => {
  const { rows } = await pool.query('insert into orders (note, amount) values ($1, $2) returning id', [order.note, order.amount]);
  return { id: rows[0].id };
}, { persistenceStore: new PostgresLayer(), config });

http.createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    let text = '';
    for await (const part of request) text += part;
    answer(201, await create(JSON.parse(text)));
  } catch (e) {
    if (e instanceof IdempotencyAlreadyInProgressError) answer(409, { error: 'in progress' });
    else answer(500, { error: e.message });
  }
}).listen(process.env.PORT, '127.0.0.1');
