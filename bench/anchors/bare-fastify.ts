/** Fastify with its defaults, and a handler that returns a constant object. */
import { fastify } from 'fastify';

const answer = JSON.parse(process.env.ANCHOR_BODY!);

const app = fastify();
app.get('/', async () => answer);
await app.listen({ host: '127.0.0.1', port: Number(process.env.ANCHOR_PORT) });
