/** As the database enforces it, in bytes. */
const LINE_MAX = 4096;
const CUT = ' …';

// biome-ignore lint/suspicious/noControlCharactersInRegex: a line of a log has none, and the database refuses one of them.
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]+/g;

/** Makes one line of bounded length. */
export function cutLine(message: string): string {
  const line = message.slice(0, LINE_MAX).toWellFormed().replaceAll(CONTROLS, ' ');
  if (message.length <= LINE_MAX && Buffer.byteLength(line) <= LINE_MAX) return line;
  const bytes = Buffer.from(line).subarray(0, LINE_MAX - Buffer.byteLength(CUT));
  // The last letter may have been cut in two.
  return bytes.toString('utf8').replace(/\ufffd+$/, '') + CUT;
}
