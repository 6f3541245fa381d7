/** The least that Node can do: a fixed answer, with no framework and no database. */
import { createServer } from 'node:http';

const body = process.env.ANCHOR_BODY!;
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
};

createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(process.env.ANCHOR_PORT), '127.0.0.1');
