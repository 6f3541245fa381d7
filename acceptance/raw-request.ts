/** A request whose body is sent when the test says so, over a connection that stays open. */
import { connect, type Socket } from 'node:net';
import { until } from './server-process.ts';

export interface SlowRequest {
  socket: Socket;
  /** Sends the rest of the body. */
  finish(): void;
  /** The whole reply, once the server has closed the connection. */
  answer: Promise<string>;
}

/** Resolves when the server has begun to handle the request: it asked for the body and got half of it. */
export async function beginRequest(
  url: string,
  path: string,
  apiKey: string,
  body: object,
): Promise<SlowRequest> {
  const text = JSON.stringify(body);
  const half = Math.floor(text.length / 2);
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (data) => {
    received += data;
  });
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => resolve(received.slice(received.indexOf('\r\n\r\n') + 4)));
  });
  answer.catch(() => {}); // The code that awaits the answer gets the error.
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Api-Key ${apiKey}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  );
  await until('the server asks for the body', () => received.startsWith('HTTP/1.1 100 '));
  socket.write(text.slice(0, half));
  return { socket, answer, finish: () => void socket.write(text.slice(half)) };
}
