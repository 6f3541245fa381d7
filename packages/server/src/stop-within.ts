/**
 * A stop that takes longer than this is forced. Changes that were confirmed to a caller are not lost, and the embedded
 * database is told to stop. A process manager that runs the server must wait longer than this before it kills it.
 */
export const STOP_WITHIN_MS = 45_000;
