/** Fastify with its defaults, and a handler that runs the cheapest possible query. */
import { fastify } from 'fastify';
import pg from 'pg';

const answer = JSON.parse(process.env.ANCHOR_BODY!);
const pool = new pg.Pool({
  ...JSON.parse(process.env.ANCHOR_CONNECTION!),
  // The pool is as large as the server's; see packages/server/src/platform/db/database.ts.
  max: 10,
});

const app = fastify();
app.get('/', async () => {
  await pool.query('select 1');
  return answer;
});
await app.listen({ host: '127.0.0.1', port: Number(process.env.ANCHOR_PORT) });
