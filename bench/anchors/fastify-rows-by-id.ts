/** Fastify with its defaults, and a handler that fetches rows by their primary key and returns them. */
import { fastify } from 'fastify';
import pg from 'pg';

const ids = process.env.ANCHOR_IDS!.split(',');
const pool = new pg.Pool({
  ...JSON.parse(process.env.ANCHOR_CONNECTION!),
  // The pool is as large as the server's; see packages/server/src/platform/db/database.ts.
  max: 10,
});

const app = fastify();
app.get('/', async (_request, reply) => {
  const { rows } = await pool.query('select * from reports where id = any($1::bigint[])', [ids]);
  return reply.type('application/json').send(JSON.stringify(rows));
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.ANCHOR_PORT) });
