/** JSON texts of values, in the same form for every engine. */

/** Milliseconds since 1970, in UTC. */
export const timeText = (ms: number) => `"${new Date(ms).toISOString().slice(0, -1)}"`;

/** JavaScript cannot hold times before the year -271821 or after 275760. */
export const isTime = (ms: number) => Math.abs(ms) <= 8.64e15;

/** Without zeros at the end of the fraction, so that engines with other scales return the same text. */
export function decimalText(digits: string): string {
  if (!digits.includes('.')) return `"${digits}"`;
  const short = digits.replace(/\.?0+$/, '');
  return short === '-0' ? '"0"' : `"${short}"`;
}

export const doubleText = (value: number) => `"${value}"`;

/** The shortest text that is still this number of 32 bits. */
export function floatText(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return `"${short}"`;
  }
  return `"${value}"`;
}
