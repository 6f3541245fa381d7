/** Fastify with its defaults. The database writes rows as JSON, found by their primary key; the handler passes it on. */
import { fastify } from 'fastify';
import pg from 'pg';

const ids = process.env.ANCHOR_IDS!.split(',');
const pool = new pg.Pool({
  ...JSON.parse(process.env.ANCHOR_CONNECTION!),
  // The pool is as large as the server's; see packages/server/src/platform/db/database.ts.
  max: 10,
});

const query = {
  name: 'rows',
  text: 'select json_agg(r)::text as json from reports r where id = any($1::bigint[])',
  values: [ids],
};

const app = fastify();
app.get('/', async (_request, reply) => {
  const { rows } = await pool.query(query);
  return reply.type('application/json').send(rows[0].json);
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.ANCHOR_PORT) });
