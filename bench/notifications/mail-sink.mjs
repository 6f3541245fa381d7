/**
 * A mail server in a process of its own, which accepts every message and looks at nothing but its end. Its parent says how many
 * messages to wait for, and is told when the last of them was accepted.
 */
import { createServer } from 'node:net';

const END = Buffer.from('\r\n.\r\n');
let left = 0;

function accepted() {
  if (left > 0 && --left === 0) process.send({ isDone: true });
}

const server = createServer((socket) => {
  let isData = false;
  /** The end of the input: of a command, or of a message. */
  let tail = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.write('220 sink\r\n');
  socket.on('data', (part) => {
    if (isData) {
      tail = Buffer.concat([tail, part.subarray(-END.length)]).subarray(-END.length);
      if (!tail.equals(END)) return;
      isData = false;
      tail = Buffer.alloc(0);
      socket.write('250 accepted\r\n');
      return accepted();
    }
    tail = Buffer.concat([tail, part]);
    for (let at = tail.indexOf('\r\n'); at >= 0; at = tail.indexOf('\r\n')) {
      const verb = tail.subarray(0, 4).toString('latin1').toUpperCase();
      tail = tail.subarray(at + 2);
      if (verb === 'QUIT') return socket.end('221 bye\r\n');
      isData = verb === 'DATA';
      socket.write(isData ? '354 go on\r\n' : '250 sink\r\n');
    }
  });
});

process.on('message', (count) => {
  left = count;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
