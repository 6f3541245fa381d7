/** Stops the start. Its message is one line that says what is wrong and how to fix it. */
export class StartupError extends Error {}
