/**
 * Ends a test process together with the run, even if the run is interrupted. The `exit` event then ends what the tests
 * have started.
 */
const end = () => process.exit(1);
process.once('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
